// C4.5's choice of a feature: the best gain ratio among gains that are not below the mean.
#pragma once

#include <cstddef>
#include <span>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/split.hpp"

namespace ramify {

/// A node as the choice sees it.
struct RatioNode {
    const Dataset& dataset;
    const NodeRows& rows;
    double weight;  // of all its rows
};

/// Which of the features' best tests (by gain less what its threshold costs; feature -1: none)
/// splits the node, or their number if none does. A ratio is the gain over the entropy of the
/// split, in which the rows with an unknown value are a part of their own. The mean keeps tests
/// out that hardly divide the rows: their ratio is large because both its parts are small.
std::size_t choose_by_ratio(std::span<const Split> found, const RatioNode& node);

}  // namespace ramify
