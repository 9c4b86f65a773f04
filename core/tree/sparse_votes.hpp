// The mean of trees for rows with many labels, without a dense row of scores in the answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "tree/predict.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Trees that vote on all rows.
struct VotingTrees {
    std::span<const Tree* const> trees;
    Mixing mixing;
    std::size_t n_labels;
};

/// Scores by rows; labels increase within a row, scores that are not stored are 0.
struct SparseScores {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> label;
    std::vector<double> score;
};

/// The scores of `write_votes`, at most 1, that are positive and at least `least`. The cost of a
/// row is that of the labels in the leaves that it reaches.
template <typename Rows>
SparseScores sparse_votes(const VotingTrees& voters, const Rows& rows, double least,
                          unsigned n_threads, StopSignal& signal);

/// Writes the k candidates with the largest scores of each row, and these scores, by rows. The
/// candidates increase and are at least k.
template <typename Rows>
void top_votes(const VotingTrees& voters, const Rows& rows,
               std::span<const std::int32_t> candidates, std::size_t k, unsigned n_threads,
               StopSignal& signal, std::span<std::int32_t> label, std::span<double> score);

}  // namespace ramify
