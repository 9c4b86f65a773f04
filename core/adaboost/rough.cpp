#include "adaboost/rough.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "adaboost/vectors.hpp"
#include "common/lanes.hpp"
#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr std::size_t rows_per_sum = 64;
/// The largest error of the sum of some cells, as a share of the weight of all. Rounding a cell
/// and adding at most rows_per_sum of them make a relative error of 2^-24 each. Columns that leave
/// out zeros add up their cells twice.
constexpr double sum_error = 150.0 / (1 << 24);
/// Smaller cells count as 0: numbers that single precision can hardly represent take much longer.
constexpr double smallest_cell = 1e-30;
constexpr float no_sum = std::numeric_limits<float>::infinity();

/// The sum of the cells of the rows so far, and its largest and smallest value at a test.
struct PrefixSums {
    alignas(64) double sum[label_lanes] = {};
    alignas(64) double high[label_lanes];
    alignas(64) double low[label_lanes];

    PrefixSums() {
        std::ranges::fill(high, -std::numeric_limits<double>::infinity());
        std::ranges::fill(low, std::numeric_limits<double>::infinity());
    }
};

/// The same for some consecutive rows, in single precision.
template <typename L>
struct Part {
    L sum, high, low;

    RAMIFY_INLINE void clear() {
        sum.fill(0);
        high.fill(-no_sum);
        low.fill(no_sum);
    }
    RAMIFY_INLINE void take() {
        for (std::size_t q = 0; q < std::size(sum.part); ++q) {
            high.part[q] = sum.part[q] > high.part[q] ? sum.part[q] : high.part[q];
            low.part[q] = sum.part[q] < low.part[q] ? sum.part[q] : low.part[q];
        }
    }
    RAMIFY_INLINE void add_to(PrefixSums& all) const {
        alignas(64) float own[3][label_lanes];
        sum.store(own[0]);
        high.store(own[1]);
        low.store(own[2]);
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const double before = all.sum[t];
            all.high[t] = std::max(all.high[t], before + static_cast<double>(own[1][t]));
            all.low[t] = std::min(all.low[t], before + static_cast<double>(own[2][t]));
            all.sum[t] = before + static_cast<double>(own[0][t]);
        }
    }
};

/// A column of distinct values, with a test after each of the first n rows. Parts do not depend on
/// each other, so that the processor can add up several at a time.
template <typename L, std::size_t n_abreast>
RAMIFY_INLINE void follow_rows(const std::uint32_t* rows, std::size_t n, const float* cells,
                               PrefixSums& all) {
    while (n >= n_abreast) {
        const std::size_t n_each = std::min(n / n_abreast, rows_per_sum);
        Part<L> part[n_abreast];
        for (auto& p : part) p.clear();
        for (std::size_t k = 0; k < n_each; ++k) {
            for (std::size_t c = 0; c < n_abreast; ++c) {
                part[c].sum.add(cells + rows[c * n_each + k] * label_lanes);
                part[c].take();
            }
        }
        for (const auto& p : part) p.add_to(all);
        rows += n_abreast * n_each;
        n -= n_abreast * n_each;
    }
    if constexpr (n_abreast > 1) follow_rows<L, 1>(rows, n, cells, all);
}

/// The sum of all listed rows, each part of them in single precision.
template <typename L>
RAMIFY_INLINE void add_up(const std::vector<std::uint32_t>& rows, const float* cells,
                          PrefixSums& all) {
    for (std::size_t i = 0; i < rows.size();) {
        Part<L> part;
        part.clear();
        for (const std::size_t end = std::min(rows.size(), i + rows_per_sum); i < end; ++i) {
            part.sum.add(cells + rows[i] * label_lanes);
        }
        part.add_to(all);
    }
}

/// A column whose groups have several rows, or that leaves out rows with the value 0, whose sums
/// are `zeros`.
template <typename L>
RAMIFY_INLINE void follow_groups(const BoostingColumn& column, const float* cells,
                                 const double* zeros, PrefixSums& all) {
    Part<L> part;
    part.clear();
    std::size_t i = 0;
    std::size_t n_added = 0;
    for (std::size_t g = 0; g + 1 < column.n_groups(); ++g) {
        for (; i < column.ends[g]; ++i) {
            if (n_added == rows_per_sum) {
                part.add_to(all);
                part.clear();
                n_added = 0;
            }
            part.sum.add(cells + column.rows[i] * label_lanes);
            ++n_added;
        }
        if (g == column.zero_group) {
            part.add_to(all);
            part.clear();
            n_added = 0;
            for (std::size_t t = 0; t < label_lanes; ++t) all.sum[t] += zeros[t];
        }
        part.take();
    }
    part.add_to(all);
}

/// Sums that do not depend on the test, scaled: of rows with a known value and with a missing one.
struct FixedSums {
    alignas(64) double known[label_lanes];
    alignas(64) double missing[label_lanes] = {};

    FixedSums(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
              const double* scale) {
        for (const auto row : column.missing) {
            for (std::size_t t = 0; t < label_lanes; ++t) {
                missing[t] += cells[row * label_lanes + t];
            }
        }
        for (std::size_t t = 0; t < label_lanes; ++t) {
            known[t] = (totals.sum[t] - missing[t]) * scale[t];
            missing[t] *= scale[t];
        }
    }

    /// The edge of a test with this sum on its right; missing values go to the better side.
    double edge(double right, std::size_t t) const {
        const double left = known[t] - right;
        return std::max(std::fabs(right + missing[t]) + std::fabs(left),
                        std::fabs(right) + std::fabs(left + missing[t]));
    }
};

template <typename L, std::size_t n_abreast>
RAMIFY_INLINE void follow(const BoostingColumn& column, const float* cells, const double* known,
                          PrefixSums& all) {
    const bool has_zeros = column.zero_group != BoostingColumn::no_group;
    if (!has_zeros && column.n_groups() == column.rows.size()) {
        follow_rows<L, n_abreast>(column.rows.data(), column.rows.size() - 1, cells, all);
        return;
    }
    alignas(64) double zeros[label_lanes] = {};
    if (has_zeros) {
        PrefixSums listed;
        add_up<L>(column.rows, cells, listed);
        for (std::size_t t = 0; t < label_lanes; ++t) zeros[t] = known[t] - listed.sum[t];
    }
    follow_groups<L>(column, cells, zeros, all);
}

using FollowFunction = void (*)(const BoostingColumn&, const float*, const double*, PrefixSums&);

void follow_narrow(const BoostingColumn& column, const float* cells, const double* known,
                   PrefixSums& all) {
#if defined(__GNUC__)
    follow<LabelVectors<float, 16, 4>, 1>(column, cells, known, all);
#else
    follow<LabelVectors<float, 4, 16>, 1>(column, cells, known, all);
#endif
}

#if defined(RAMIFY_X86_WIDTHS)
__attribute__((target("avx2"))) void follow_avx2(const BoostingColumn& column, const float* cells,
                                                 const double* known, PrefixSums& all) {
    follow<LabelVectors<float, 32, 2>, 2>(column, cells, known, all);
}
__attribute__((target("avx512f"))) void follow_avx512(const BoostingColumn& column,
                                                      const float* cells, const double* known,
                                                      PrefixSums& all) {
    follow<LabelVectors<float, 64, 1>, 8>(column, cells, known, all);
}
#endif

FollowFunction widest_follow() {
#if defined(RAMIFY_X86_WIDTHS)
    if (__builtin_cpu_supports("avx512f")) return follow_avx512;
    if (__builtin_cpu_supports("avx2")) return follow_avx2;
#endif
    return follow_narrow;
}

RAMIFY_ANY_WIDTH void round_cells(const double* cells, const double* scale, std::size_t n_rows,
                                  float* to) {
    const Lanes least = all(smallest_cell);
    for (std::size_t k = 0; k < n_rows * label_lanes; k += abreast) {
        const Lanes cell = load(cells + k, 0) * load(scale + k % label_lanes, 0);
        store_rounded(to + k, larger(cell, -cell) < least ? Lanes{} : cell);
    }
}

}  // namespace

void RoughCells::copy(const double* cells, const LaneTotals& totals, std::size_t n_rows) {
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const double weight = totals.weight[t];
        // A number below 2^-1022 has no inverse; such a label has no test beyond its tolerance.
        scale_[t] = std::isnormal(weight) ? std::ldexp(1.0, -std::ilogb(weight)) : 0.0;
    }
    rows_.make_room(n_rows);
    round_cells(cells, scale_, n_rows, rows_.data()->cell);
}

/// The edge is a convex function of the sum on the right. The largest edge is therefore that of
/// the largest or the smallest sum, and only these are followed. Where all sums lie between 0 and
/// that of all rows, the edge does not depend on them, nor on their errors.
void bound_column(const BoostingColumn& column, const RoughCells& rough, const double* cells,
                  const LaneTotals& totals, LaneBounds& bounds) {
    static const FollowFunction chosen = widest_follow();
    std::ranges::fill(bounds.lower, -1.0);
    std::ranges::fill(bounds.upper, -1.0);
    if (column.n_groups() < 2) return;
    const double* scale = rough.scale();
    const FixedSums fixed(column, cells, totals, scale);
    PrefixSums right;
    chosen(column, rough.data(), fixed.known, right);
    for (std::size_t t = 0; t < label_lanes; ++t) {
        if (scale[t] == 0) continue;
        const double error = sum_error * totals.weight[t] * scale[t];
        const double high = right.high[t];
        const double low = right.low[t];
        bounds.upper[t] =
            std::max(fixed.edge(high + error, t), fixed.edge(low - error, t)) / scale[t];
        bounds.lower[t] =
            (std::max(fixed.edge(high, t), fixed.edge(low, t)) - 2 * error) / scale[t];
    }
}

}  // namespace ramify
