// Closure of label sets: a row that has a label also has all ancestors of the label.
#pragma once

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"

namespace ramify {

/// All ancestors of every label, sorted, the label itself left out.
/// `parents` lists the direct parents; labels are in topological order (parents[l] < l).
SparseRows ancestors(SparseRowsView parents, StopSignal& signal);

/// The union of the labels and their ancestors for each row, sorted and without duplicates. A row
/// costs as much as its labels have ancestors, plus n_labels / 4096.
SparseRows close_upwards(SparseRowsView labels, SparseRowsView ancestors_of, StopSignal& signal);

/// The labels of each row that are not ancestors of another label of the row, sorted and without
/// duplicates.
SparseRows most_specific(SparseRowsView labels, SparseRowsView ancestors_of, StopSignal& signal);

}  // namespace ramify
