// The inner loop of boosting: the best threshold of a column for sixteen labels at once.
#pragma once

#include <cstddef>

#include "adaboost/columns.hpp"

namespace ramify {

/// Labels that are searched together; a row of their cells fills two cache lines.
inline constexpr std::size_t label_lanes = 16;

/// What all columns share in one search. A cell is weight times +1 or -1: has the label or not.
struct LaneTotals {
    alignas(64) double sum[label_lanes];        // of all cells
    alignas(64) double weight[label_lanes];     // of their magnitudes
    alignas(64) double tolerance[label_lanes];  // scores that differ by less are equal
};

/// The best score of each label and the group above its threshold; -1: there is no test.
struct LaneBest {
    alignas(64) double score[label_lanes];
    alignas(64) double group[label_lanes];
};

/// Sides with cell sums R and L that vote by their sign have the edge |R| + |L|: the weight of
/// rows that are right less that of rows that are wrong. Unknown values join the better side.
/// `cells`: a row of label_lanes cells for each row of X. Of equal scores the first counts; for a
/// nominal column every category joins the side of its sign, and the group is 0.
void scan_column(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 LaneBest& best);

/// The same for one test that all labels share: adds the labels' edges, for each group but the
/// last with unknown values on the right and on the left. Nominal: one category against the rest.
void add_shared_scores(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                       double* right, double* left);

}  // namespace ramify
