#include "adaboost/cells.hpp"

#include <cmath>

#include "common/lanes.hpp"
#include "common/simd.hpp"

namespace ramify {

// Every lane is summed up in the order of the rows, so that the width does not matter. The sums
// are vectors of their own: compilers keep sums in arrays in memory, and wait for it.

namespace {

constexpr std::size_t vectors_per_row = label_lanes / abreast;

constexpr std::uint64_t bit_of_lane[label_lanes] = {
    1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
    1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};

RAMIFY_INSIDE Lanes magnitude_of(const Lanes& cell) {
    return cell < 0 ? -cell : cell;
}

/// One of two values for each label of a vector, by its bit.
RAMIFY_INSIDE Lanes choose(LabelBits bits, std::size_t vector, const Lanes& if_set,
                           const Lanes& if_not) {
    LaneBits own;
    std::memcpy(&own, bit_of_lane + vector * abreast, sizeof(own));
    return ((LaneBits{} + bits) & own) != 0 ? if_set : if_not;
}

RAMIFY_INSIDE Lanes where(LabelBits bits, const Lanes& values, std::size_t vector) {
    return choose(bits, vector, values, Lanes{});
}

/// Adds up cells and their magnitudes; with `some`, only those whose bit is set.
template <bool some>
RAMIFY_INSIDE void add_up(const double* cells, std::size_t n_rows, const LabelBits* bits,
                          LaneSums& sums) {
    Lanes sum[vectors_per_row] = {};
    Lanes weight[vectors_per_row] = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t q = 0; q < vectors_per_row; ++q) {
            Lanes cell = load(cells + i * label_lanes, q);
            if constexpr (some) cell = where(bits[i], cell, q);
            sum[q] += cell;
            weight[q] += magnitude_of(cell);
        }
    }
    for (std::size_t q = 0; q < vectors_per_row; ++q) {
        store(sums.sum, q, sum[q]);
        store(sums.weight, q, weight[q]);
    }
}

// No function with several widths returns LaneTotals: its alignment would not be kept.
RAMIFY_ANY_WIDTH void sums_of(const double* cells, std::size_t n_rows, LaneSums& sums) {
    add_up<false>(cells, n_rows, nullptr, sums);
}

RAMIFY_ANY_WIDTH void sums_of_some(const double* cells, std::size_t n_rows, const LabelBits* bits,
                                   LaneSums& sums) {
    add_up<true>(cells, n_rows, bits, sums);
}

RAMIFY_ANY_WIDTH void copy_some(const double* cells, std::size_t n_rows, const LabelBits* bits,
                                double* to) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t q = 0; q < vectors_per_row; ++q) {
            store(to + i * label_lanes, q, where(bits[i], load(cells + i * label_lanes, q), q));
        }
    }
}

RAMIFY_ANY_WIDTH void add_signed(const double* cells, std::size_t n_rows, const LabelBits* bits,
                                 LaneSums& sums) {
    Lanes sum[vectors_per_row];
    Lanes weight[vectors_per_row];
    for (std::size_t q = 0; q < vectors_per_row; ++q) {
        sum[q] = load(sums.sum, q);
        weight[q] = load(sums.weight, q);
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t q = 0; q < vectors_per_row; ++q) {
            const Lanes own = magnitude_of(load(cells + i * label_lanes, q));
            sum[q] += choose(bits[i], q, own, -own);
            weight[q] += own;
        }
    }
    for (std::size_t q = 0; q < vectors_per_row; ++q) {
        store(sums.sum, q, sum[q]);
        store(sums.weight, q, weight[q]);
    }
}

RAMIFY_ANY_WIDTH void multiply_rows(double* cells, std::size_t n_rows, const LabelBits* bits,
                                    double if_set, double if_not) {
    const Lanes set = all(if_set);
    const Lanes not_set = all(if_not);
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t q = 0; q < vectors_per_row; ++q) {
            double* row = cells + i * label_lanes;
            store(row, q, load(row, q) * choose(bits[i], q, set, not_set));
        }
    }
}

/// By how much the sum of correct votes grows, halved, and the sum of all weights.
RAMIFY_ANY_WIDTH void compare_edges(const double* cells, std::size_t n_rows,
                                    const LabelBits* first, const LabelBits* second,
                                    LaneSums& sums) {
    Lanes sum[vectors_per_row] = {};
    Lanes weight[vectors_per_row] = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t q = 0; q < vectors_per_row; ++q) {
            const Lanes cell = load(cells + i * label_lanes, q);
            sum[q] += where(second[i], cell, q) - where(first[i], cell, q);
            weight[q] += magnitude_of(cell);
        }
    }
    for (std::size_t q = 0; q < vectors_per_row; ++q) {
        store(sums.sum, q, sum[q]);
        store(sums.weight, q, weight[q]);
    }
}

}  // namespace

LaneTotals total_of(const double* cells, std::size_t n_rows) {
    LaneSums sums;
    sums_of(cells, n_rows, sums);
    LaneTotals totals;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        totals.sum[t] = sums.sum[t];
        totals.weight[t] = sums.weight[t];
        totals.tolerance[t] = relative_tolerance * sums.weight[t];
    }
    return totals;
}

LaneSums sums_where(const double* cells, std::span<const LabelBits> bits) {
    LaneSums sums;
    sums_of_some(cells, bits.size(), bits.data(), sums);
    return sums;
}

void copy_where(const double* cells, std::span<const LabelBits> bits, double* to) {
    copy_some(cells, bits.size(), bits.data(), to);
}

LabelBits larger_edge(const double* cells, std::span<const LabelBits> first,
                      std::span<const LabelBits> second) {
    LaneSums sums;
    compare_edges(cells, first.size(), first.data(), second.data(), sums);
    LabelBits better = 0;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        if (2 * sums.sum[t] > relative_tolerance * sums.weight[t]) better |= lane_bit(t);
    }
    return better;
}

void add_correct(const double* cells, std::span<const LabelBits> correct, LaneSums& sums) {
    add_signed(cells, correct.size(), correct.data(), sums);
}

void multiply(double* cells, std::span<const LabelBits> bits, double if_set, double if_not) {
    multiply_rows(cells, bits.size(), bits.data(), if_set, if_not);
}

}  // namespace ramify
