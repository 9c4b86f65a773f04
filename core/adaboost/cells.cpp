#include "adaboost/cells.hpp"

#include <cmath>

#include "common/simd.hpp"

namespace ramify {

// Every lane is summed up in the order of the rows, so that the width does not matter.

namespace {

// No function with several widths returns LaneTotals: its alignment would not be kept.
RAMIFY_ANY_WIDTH LaneSums sums_of(const double* cells, std::size_t n_rows) {
    LaneSums sums;
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const double cell = cells[i * label_lanes + t];
            sums.sum[t] += cell;
            sums.weight[t] += std::fabs(cell);
        }
    }
    return sums;
}

}  // namespace

LaneTotals total_of(const double* cells, std::size_t n_rows) {
    const LaneSums sums = sums_of(cells, n_rows);
    LaneTotals totals;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        totals.sum[t] = sums.sum[t];
        totals.weight[t] = sums.weight[t];
        totals.tolerance[t] = relative_tolerance * sums.weight[t];
    }
    return totals;
}

RAMIFY_ANY_WIDTH LaneSums sums_where(const double* cells, const std::uint8_t* marks,
                                     std::uint8_t value, std::size_t n_rows) {
    LaneSums sums;
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const double cell =
                marks[i * label_lanes + t] == value ? cells[i * label_lanes + t] : 0.0;
            sums.sum[t] += cell;
            sums.weight[t] += std::fabs(cell);
        }
    }
    return sums;
}

RAMIFY_ANY_WIDTH void copy_where(const double* cells, const std::uint8_t* marks,
                                 std::uint8_t value, std::size_t n_rows, double* to) {
    for (std::size_t k = 0; k < n_rows * label_lanes; ++k) {
        to[k] = marks[k] == value ? cells[k] : 0.0;
    }
}

RAMIFY_ANY_WIDTH std::array<bool, label_lanes> larger_edge(const double* cells, std::size_t n_rows,
                                                           const std::int8_t* first,
                                                           const std::int8_t* second) {
    double difference[label_lanes] = {};
    double weight[label_lanes] = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const auto k = i * label_lanes + t;
            difference[t] += cells[k] * static_cast<double>(second[k] - first[k]);
            weight[t] += std::fabs(cells[k]);
        }
    }
    std::array<bool, label_lanes> better;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        better[t] = difference[t] > relative_tolerance * weight[t];
    }
    return better;
}

RAMIFY_ANY_WIDTH void mark_correct(const double* cells, const std::int8_t* votes,
                                   std::size_t n_cells, std::int8_t* correct) {
    for (std::size_t k = 0; k < n_cells; ++k) {
        correct[k] = static_cast<std::int8_t>(std::signbit(cells[k]) ? -votes[k] : votes[k]);
    }
}

}  // namespace ramify
