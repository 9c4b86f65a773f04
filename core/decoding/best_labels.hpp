// The k best labels of the rows of a matrix of scores.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "data/matrix.hpp"

namespace ramify {

/// Writes the k candidates with the largest scores of each row, and these scores, by rows. Of
/// equal scores, those of the first labels count. The candidates increase and are at least k.
void best_labels(const MatrixView<double>& scores, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score);
void best_labels(const CsrView& scores, std::span<const std::int32_t> candidates, std::size_t k,
                 unsigned n_threads, StopSignal& signal, std::span<std::int32_t> label,
                 std::span<double> score);

}  // namespace ramify
