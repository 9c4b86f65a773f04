// The features as further targets: what rows without labels tell a tree.
#pragma once

#include <cstddef>
#include <span>

#include "common/sparse_rows.hpp"

namespace ramify {

/// Numbers whose sum of squares about the mean, over all columns, is the impurity of the features:
/// each is divided by the spread of its feature, and a nominal feature has a column per category.
/// Columns of which no value is missing come first. Borrowed.
struct FeatureTargets {
    SparseRowsView cells;           // per row: the columns that are not zero, increasing
    std::span<const double> value;  // per cell
    SparseRowsView missing;         // per row: the columns whose value is missing, increasing
    std::size_t n_columns = 0;
    std::size_t n_complete = 0;  // no value of the columns before this one is missing
    double least_labelled =
        0;  // weight of labelled rows that a node must have to split, as in CLUS
};

}  // namespace ramify
