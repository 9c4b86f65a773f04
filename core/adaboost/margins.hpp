// What many rounds of boosting say about rows: the sum of their weighted votes.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "tree/predict.hpp"

namespace ramify {

/// Rounds as flat arrays, borrowed. Per round the tests of all nodes, n_tested each, level by
/// level; categories of a test from category_indptr on, none for a numeric test; then the signs of
/// all leaves, n_labels each.
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
    std::span<const std::uint8_t> top_down;  // per round: a vote below a negative one is negative

    std::size_t n_nodes() const { return (std::size_t{1} << depth) - 1; }
    std::size_t n_leaves() const { return std::size_t{1} << depth; }
};

/// Parents of each label, whose numbers are smaller.
struct ParentRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
};

/// Adds alpha times vote of the rounds from `first` to `last` to out (n_rows x n_labels, by rows).
template <typename Rows>
void add_margins(const BoostingRounds& rounds, std::size_t first, std::size_t last,
                 const ParentRows& parents, const Rows& rows, unsigned n_threads,
                 StopSignal& signal, std::span<double> out);

}  // namespace ramify
