// The k best labels of the rows of a matrix of scores.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"

namespace ramify {

/// Scores by rows, n_rows x n_labels.
struct DenseScoreRows {
    std::span<const double> scores;
    std::size_t n_rows;
    std::size_t n_labels;
};

/// The same with cells that are not stored, which are 0. Labels are distinct within a row.
struct SparseScoreRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> label;
    std::span<const double> score;
    std::size_t n_labels;
};

/// Writes the k candidates with the largest scores of each row, and these scores, by rows. Of
/// equal scores, those of the first labels count. The candidates increase and are at least k.
void best_labels(const DenseScoreRows& rows, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score);
void best_labels(const SparseScoreRows& rows, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score);

}  // namespace ramify
