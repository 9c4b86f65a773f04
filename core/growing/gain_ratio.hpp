// C4.5's choice of a feature: the best gain ratio among gains that are not below the mean.
#pragma once

#include <cstddef>
#include <span>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/split.hpp"

namespace ramify {

/// The node to be split.
struct RatioNode {
    const Dataset& dataset;
    const NodeRows& rows;
    double weight;  // of all its rows
};

/// Which of the best tests of all features (feature -1: none) splits the node; found.size() if
/// none does. Scores are gains minus the cost of the threshold. The ratio divides the gain by the
/// entropy of the split, in which rows that are divided are a branch of their own. Requiring
/// the mean gain excludes tests that hardly divide the rows: their ratio is large because both of
/// its terms are small.
std::size_t choose_by_ratio(std::span<const Split> found, const RatioNode& node);

}  // namespace ramify
