// Closure of label sets: a row that has a label also has all ancestors of the label.
#pragma once

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"

namespace ramify {

/// All ancestors of every label, sorted, the label itself left out.
/// `parents` lists the direct parents; labels are in topological order (parents[l] < l). A deep
/// hierarchy has up to n² / 2 ancestors: throws std::length_error if there are more than max_size.
SparseRows ancestors(SparseRowsView parents, std::size_t max_size, StopSignal& signal);

/// The union of the labels and their ancestors for each row, sorted and without duplicates. A row
/// costs as much as its closed set has labels and edges, plus n_labels / 4096. Given the children
/// of every label in place of its parents, it adds descendants. Throws std::length_error if the
/// rows together have more than max_size labels.
SparseRows close_upwards(SparseRowsView labels, SparseRowsView parents, std::size_t max_size,
                         StopSignal& signal);

/// The labels of each row that are not ancestors of another label of the row, sorted and without
/// duplicates.
SparseRows most_specific(SparseRowsView labels, SparseRowsView parents, StopSignal& signal);

}  // namespace ramify
