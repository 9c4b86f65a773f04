// Predictions of boosting: the sum of the weighted votes of many rounds.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "tree/predict.hpp"

namespace ramify {

/// Rounds as borrowed flat arrays. Each round has the tests of all nodes, level by level, n_tested
/// per node, and the signs of all leaves, n_labels per leaf. The categories of a test start at
/// category_indptr; a numeric test has none.
struct BoostingRounds {
    std::size_t n_rounds;
    std::size_t depth;
    std::size_t n_tested;  // 1 or n_labels
    std::size_t n_labels;
    std::span<const std::int32_t> feature;
    std::span<const double> threshold;
    std::span<const std::uint8_t> default_right;
    std::span<const std::int64_t> category_indptr;
    std::span<const std::uint8_t> category_right;
    std::span<const std::int8_t> sign;
    std::span<const double> alpha;
    std::span<const std::uint8_t> top_down;  // per round and label: a FollowsParents

    std::size_t n_nodes() const { return (std::size_t{1} << depth) - 1; }
    std::size_t n_leaves() const { return std::size_t{1} << depth; }
};

/// The parents of each label, which have smaller numbers.
struct ParentRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
};

/// Adds alpha * vote of the rounds `first`, ..., `last` - 1 to `out` (n_rows x n_labels,
/// row-major).
template <typename Rows>
void add_margins(const BoostingRounds& rounds, std::size_t first, std::size_t last,
                 const ParentRows& parents, const Rows& rows, unsigned n_threads,
                 StopSignal& signal, std::span<double> out);

}  // namespace ramify
