// The label set of every row with the best expected figures, from coherent probabilities.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"
#include "data/matrix.hpp"

namespace ramify {

/// Probabilities of all labels: n_labels numbers per row, or only those that are not 0.
struct ScoreRows {
    std::span<const double> dense;
    const CsrView* sparse = nullptr;

    std::size_t n_rows(std::size_t n_labels) const {
        return sparse != nullptr ? sparse->indptr.size() - 1 : dense.size() / n_labels;
    }
};

/// Returns the label set of each row with the largest F + P among those of the k most probable
/// labels: F = 2 (sum of their probabilities) / (k + sum of all probabilities) estimates the
/// expected F1, and P is the probability that the set is exactly right if a label depends on its
/// parents only. Of equally probable labels, the first count, and of equally good sets, the
/// smallest. Labels of probability 0 are never chosen; the empty set only if it may be, or if all
/// probabilities are 0. No label may be more probable than a parent; labels are in topological
/// order (parents[l] < l).
SparseRows best_label_sets(const ScoreRows& scores, SparseRowsView parents, bool may_be_empty,
                           unsigned n_threads, StopSignal& signal);

/// Writes the label of each row whose path has the largest F + P, where a path is a label with its
/// ancestors, and P the probability of the label minus those of its children. `ends` marks the
/// labels at which paths may end; of equally good ones, the first counts.
void best_ends(const ScoreRows& scores, SparseRowsView parents, std::span<const std::uint8_t> ends,
               unsigned n_threads, StopSignal& signal, std::span<std::int32_t> chosen);

}  // namespace ramify
