// Sums of cells, and the cells of one node; used by both searches for a weak hypothesis.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "adaboost/scan.hpp"

namespace ramify {

/// Scores that differ by at most this share of a label's weight are ties
/// (docs/decisions/0003-ties.md).
inline constexpr double relative_tolerance = 1e-9;

inline LaneTotals total_of(const double* cells, std::size_t n_rows) {
    LaneTotals totals{};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const double cell = cells[i * label_lanes + t];
            totals.sum[t] += cell;
            totals.weight[t] += std::fabs(cell);
        }
    }
    for (std::size_t t = 0; t < label_lanes; ++t) {
        totals.tolerance[t] = relative_tolerance * totals.weight[t];
    }
    return totals;
}

/// Copies the cells of the rows in a node; the cells of all other rows become 0.
template <typename NodeOf>
void copy_node(const double* cells, std::size_t n_rows, std::size_t node, NodeOf node_of,
               double* to) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const auto k = i * label_lanes + t;
            to[k] = node_of(i, t) == node ? cells[k] : 0.0;
        }
    }
}

/// For each lane, whether the second votes have a larger edge than the first, beyond rounding.
inline std::array<bool, label_lanes> larger_edge(const double* cells, std::size_t n_rows,
                                                 const std::int8_t* first,
                                                 const std::int8_t* second) {
    double difference[label_lanes] = {};
    double weight[label_lanes] = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const auto k = i * label_lanes + t;
            difference[t] += cells[k] * (second[k] - first[k]);
            weight[t] += std::fabs(cells[k]);
        }
    }
    std::array<bool, label_lanes> better;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        better[t] = difference[t] > relative_tolerance * weight[t];
    }
    return better;
}

}  // namespace ramify
