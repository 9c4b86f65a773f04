// The inner loop of boosting: finds the best threshold of a column for sixteen labels at once.
#pragma once

#include <cstddef>

#include "adaboost/columns.hpp"

namespace ramify {

/// The number of labels searched together; their cells in one row fill two cache lines.
inline constexpr std::size_t label_lanes = 16;

/// Totals shared by all columns of a search. A cell is the weight of a row and label, negated if
/// the row does not have the label.
struct LaneTotals {
    alignas(64) double sum[label_lanes];        // of the cells
    alignas(64) double weight[label_lanes];     // of the absolute values of the cells
    alignas(64) double tolerance[label_lanes];  // scores that differ by less are ties
};

/// The best score of each label and the group above its threshold, or -1 if there is no test.
struct LaneBest {
    alignas(64) double score[label_lanes];
    alignas(64) double group[label_lanes];
};

/// If two sides with cell sums R and L vote by the sign of their sum, the edge is |R| + |L|: the
/// weight of correct votes minus that of wrong votes. Missing values go to the better side.
/// `cells` has label_lanes cells for each row of X. Ties go to the first candidate. In a nominal
/// column every category goes to the side of its sign, and the group is 0.
void scan_column(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 LaneBest& best);

/// The same for a single label: it gives the same numbers.
void scan_column(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 std::size_t lane, LaneBest& best);

/// The same for one test shared by all labels: adds up the edges of the labels for each group but
/// the last, with missing values on the right (`right`) and on the left (`left`). A nominal test
/// separates one category from the rest.
void add_shared_scores(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                       double* right, double* left);

}  // namespace ramify
