// Loops over the cells of a block: sums per lane, and the cells of some rows.
#pragma once

#include <cstdint>
#include <span>

#include "adaboost/scan.hpp"
#include "common/tolerance.hpp"

namespace ramify {

/// The sum and the absolute sum of cells, per lane.
struct LaneSums {
    double sum[label_lanes] = {};
    double weight[label_lanes] = {};
};

LaneTotals total_of(const double* cells, std::size_t n_rows);

/// One bit for each label of a block, per row.
using LabelBits = std::uint16_t;
static_assert(8 * sizeof(LabelBits) == label_lanes);

constexpr LabelBits lane_bit(std::size_t lane) {
    return static_cast<LabelBits>(1u << lane);
}

/// Sums over the cells whose bit is set.
LaneSums sums_where(const double* cells, std::span<const LabelBits> bits);

/// Copies the cells whose bit is set; all others become 0.
void copy_where(const double* cells, std::span<const LabelBits> bits, double* to);

/// The labels whose second votes (bits set: +1) have a larger edge than the first, beyond
/// rounding.
LabelBits larger_edge(const double* cells, std::span<const LabelBits> first,
                      std::span<const LabelBits> second);

/// Adds the weights of some rows to sums: of correct votes (bits set) less those of wrong ones,
/// and of all.
void add_correct(const double* cells, std::span<const LabelBits> correct, LaneSums& sums);

/// Multiplies cells by a factor, which depends on whether their bit is set.
void multiply(double* cells, std::span<const LabelBits> bits, double if_set, double if_not);

}  // namespace ramify
