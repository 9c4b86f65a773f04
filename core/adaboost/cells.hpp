// Loops over the cells of a block: sums per lane, and the cells of some rows.
#pragma once

#include <array>
#include <cstdint>

#include "adaboost/scan.hpp"
#include "common/tolerance.hpp"

namespace ramify {

/// The sum and the absolute sum of cells, per lane.
struct LaneSums {
    double sum[label_lanes] = {};
    double weight[label_lanes] = {};
};

LaneTotals total_of(const double* cells, std::size_t n_rows);

/// Sums over the cells whose mark has this value.
LaneSums sums_where(const double* cells, const std::uint8_t* marks, std::uint8_t value,
                    std::size_t n_rows);

/// Copies the cells whose mark has this value; all others become 0.
void copy_where(const double* cells, const std::uint8_t* marks, std::uint8_t value,
                std::size_t n_rows, double* to);

/// For each lane, whether the second votes have a larger edge than the first, beyond rounding.
std::array<bool, label_lanes> larger_edge(const double* cells, std::size_t n_rows,
                                          const std::int8_t* first, const std::int8_t* second);

/// +1 where a vote has the sign of its cell, also if the weight is 0, and -1 elsewhere.
void mark_correct(const double* cells, const std::int8_t* votes, std::size_t n_cells,
                  std::int8_t* correct);

}  // namespace ramify
