// Propagation of sparse scores to the ancestors of their labels.
#pragma once

#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"

namespace ramify {

/// What a label with a score of its own gets from its descendants.
enum class Propagation {
    max,   // the largest score of the label and its descendants
    fill,  // nothing: only labels without a score get one, the largest of their children
};

/// Sparse rows with one score per index.
struct ScoredRows {
    SparseRows rows;
    std::vector<double> scores;
};

/// Scores for the labels of each row and all their ancestors, by increasing label. Scores that are
/// not positive count as absent. `parents` lists the direct parents; labels are in topological
/// order (parents[l] < l). A row costs as much as its result has labels and parents, plus
/// n_labels / 4096.
ScoredRows propagate(SparseRowsView labels, std::span<const double> scores, SparseRowsView parents,
                     Propagation how, StopSignal& signal);

}  // namespace ramify
