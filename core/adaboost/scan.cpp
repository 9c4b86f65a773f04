#include "adaboost/scan.hpp"

#include <cmath>
#include <type_traits>

#include "adaboost/vectors.hpp"

namespace ramify {

namespace {

template <typename L>
RAMIFY_INLINE void add_rows(const std::uint32_t* rows, std::size_t begin, std::size_t end,
                            const double* cells, L& sum) {
    for (auto i = begin; i < end; ++i) sum.add(cells + rows[i] * label_lanes);
}

template <typename Vector>
RAMIFY_INLINE void magnitude(const Vector& x, Vector& out) {
    if constexpr (std::is_same_v<Vector, double>) {
        out = std::fabs(x);
    } else {
        out = x < 0 ? -x : x;
    }
}

/// Sums over one column for the labels of a pass: rows with a known value, with a missing value,
/// and with an implicit zero.
template <typename L>
struct ColumnSums {
    L known, missing, zeros;

    RAMIFY_INLINE void read(const BoostingColumn& column, const double* cells,
                            const double* total) {
        missing.fill(0);
        add_rows(column.missing.data(), 0, column.missing.size(), cells, missing);
        known.load(total);
        L listed;
        listed.fill(0);
        if (column.zero_group != BoostingColumn::no_group) {
            add_rows(column.rows.data(), 0, column.rows.size(), cells, listed);
        }
        for (std::size_t q = 0; q < std::size(known.part); ++q) {
            known.part[q] -= missing.part[q];
            zeros.part[q] = known.part[q] - listed.part[q];
        }
    }
};

/// The edges of a test with `right` above the threshold and the rest of `known` below, with
/// missing values on the right and on the left.
template <typename Vector>
RAMIFY_INLINE void edges(const Vector& right, const Vector& known, const Vector& missing,
                         Vector& with_right, Vector& with_left) {
    Vector a, b;
    magnitude<Vector>(right + missing, a);
    magnitude<Vector>(known - right, b);
    with_right = a + b;
    magnitude<Vector>(right, a);
    magnitude<Vector>(known - right + missing, b);
    with_left = a + b;
}

template <typename L, bool any_missing>
RAMIFY_INLINE void take_better(const L& right, const ColumnSums<L>& sums, double group,
                               const L& tolerance, L& limit, L& best_group) {
    using Vector = typename L::Vector;
    for (std::size_t q = 0; q < std::size(right.part); ++q) {
        Vector score, other;
        if constexpr (any_missing) {
            edges<Vector>(right.part[q], sums.known.part[q], sums.missing.part[q], score, other);
            score = other > score ? other : score;
        } else {
            magnitude<Vector>(right.part[q], score);
            magnitude<Vector>(sums.known.part[q] - right.part[q], other);
            score += other;
        }
        if constexpr (L::size == 1) {
            // Rarely true: the processor need not wait for the comparison before.
            if (score > limit.part[q]) {
                limit.part[q] = score + tolerance.part[q];
                best_group.part[q] = group;
            }
            continue;
        }
        const auto better = score > limit.part[q];
        limit.part[q] = better ? score + tolerance.part[q] : limit.part[q];
        best_group.part[q] = better ? Vector{} + group : best_group.part[q];
    }
}

template <typename L, bool any_missing>
RAMIFY_INLINE void scan_numeric(const BoostingColumn& column, const double* cells,
                                const ColumnSums<L>& sums, const L& tolerance, L& limit,
                                L& best_group) {
    L right;
    right.fill(0);
    std::size_t i = 0;
    for (std::size_t g = 0; g + 1 < column.n_groups(); ++g) {
        const std::size_t end = column.ends[g];
        add_rows(column.rows.data(), i, end, cells, right);
        i = end;
        if (g == column.zero_group) {
            for (std::size_t q = 0; q < std::size(right.part); ++q) {
                right.part[q] += sums.zeros.part[q];
            }
        }
        take_better<L, any_missing>(right, sums, static_cast<double>(g), tolerance, limit,
                                    best_group);
    }
}

template <typename L>
RAMIFY_INLINE void scan_nominal(const BoostingColumn& column, const double* cells,
                                const ColumnSums<L>& sums, const L& tolerance, L& limit,
                                L& best_group) {
    L right;
    right.fill(0);
    std::size_t i = 0;
    for (const std::size_t end : column.ends) {
        L category;
        category.fill(0);
        add_rows(column.rows.data(), i, end, cells, category);
        i = end;
        for (std::size_t q = 0; q < std::size(right.part); ++q) {
            const auto c = category.part[q];
            right.part[q] += c > tolerance.part[q] ? c : typename L::Vector{};
        }
    }
    take_better<L, true>(right, sums, 0, tolerance, limit, best_group);
}

/// Scans a column for the labels from `first` on.
template <typename L>
RAMIFY_INLINE void scan_lanes(const BoostingColumn& column, const double* all_cells,
                              const LaneTotals& totals, std::size_t first, LaneBest& best) {
    const double* cells = all_cells + first;
    L tolerance, limit, group;
    tolerance.load(totals.tolerance + first);
    limit.fill(-1);
    group.fill(-1);
    ColumnSums<L> sums;
    sums.read(column, cells, totals.sum + first);
    if (column.nominal) {
        scan_nominal<L>(column, cells, sums, tolerance, limit, group);
    } else if (column.missing.empty()) {
        scan_numeric<L, false>(column, cells, sums, tolerance, limit, group);
    } else {
        scan_numeric<L, true>(column, cells, sums, tolerance, limit, group);
    }
    for (std::size_t q = 0; q < std::size(limit.part); ++q) limit.part[q] -= tolerance.part[q];
    limit.store(best.score + first);
    group.store(best.group + first);
}

template <std::size_t n_bytes, std::size_t n_parts>
RAMIFY_INLINE void scan(const BoostingColumn& column, const double* cells,
                        const LaneTotals& totals, LaneBest& best) {
    using L = LabelVectors<double, n_bytes, n_parts>;
    for (std::size_t first = 0; first < label_lanes; first += L::size) {
        scan_lanes<L>(column, cells, totals, first, best);
    }
}

template <std::size_t n_bytes, std::size_t n_parts>
RAMIFY_INLINE void add_shared(const BoostingColumn& column, const double* all_cells,
                              const LaneTotals& totals, double* to_right, double* to_left) {
    using L = LabelVectors<double, n_bytes, n_parts>;
    for (std::size_t first = 0; first < label_lanes; first += L::size) {
        const double* cells = all_cells + first;
        ColumnSums<L> sums;
        sums.read(column, cells, totals.sum + first);
        L right;
        right.fill(0);
        std::size_t i = 0;
        const std::size_t n_tests = column.n_groups() - (column.nominal ? 0 : 1);
        for (std::size_t g = 0; g < n_tests; ++g) {
            if (column.nominal) right.fill(0);
            const std::size_t end = column.ends[g];
            add_rows(column.rows.data(), i, end, cells, right);
            i = end;
            L with_right, with_left;
            for (std::size_t q = 0; q < n_parts; ++q) {
                if (g == column.zero_group) right.part[q] += sums.zeros.part[q];
                edges<typename L::Vector>(right.part[q], sums.known.part[q], sums.missing.part[q],
                                          with_right.part[q], with_left.part[q]);
            }
            double lane[2][L::size];
            with_right.store(lane[0]);
            with_left.store(lane[1]);
            for (std::size_t t = 0; t < L::size; ++t) {
                to_right[g] += lane[0][t];
                to_left[g] += lane[1][t];
            }
        }
    }
}

using ScanFunction = void (*)(const BoostingColumn&, const double*, const LaneTotals&, LaneBest&);
using SharedScanFunction = void (*)(const BoostingColumn&, const double*, const LaneTotals&,
                                    double*, double*);

void scan_narrow(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 LaneBest& best) {
#if defined(__GNUC__)
    scan<16, 4>(column, cells, totals, best);
#else
    scan<8, 4>(column, cells, totals, best);
#endif
}

#if defined(RAMIFY_X86_WIDTHS)
__attribute__((target("avx2"))) void scan_avx2(const BoostingColumn& column, const double* cells,
                                               const LaneTotals& totals, LaneBest& best) {
    scan<32, 4>(column, cells, totals, best);
}
__attribute__((target("avx512f"))) void scan_avx512(const BoostingColumn& column,
                                                    const double* cells, const LaneTotals& totals,
                                                    LaneBest& best) {
    scan<64, 2>(column, cells, totals, best);
}
__attribute__((target("avx2"))) void shared_avx2(const BoostingColumn& column, const double* cells,
                                                 const LaneTotals& totals, double* right,
                                                 double* left) {
    add_shared<32, 4>(column, cells, totals, right, left);
}
#endif

void shared_narrow(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                   double* right, double* left) {
#if defined(__GNUC__)
    add_shared<16, 4>(column, cells, totals, right, left);
#else
    add_shared<8, 4>(column, cells, totals, right, left);
#endif
}

ScanFunction widest_scan() {
#if defined(RAMIFY_X86_WIDTHS)
    if (__builtin_cpu_supports("avx512f")) return scan_avx512;
    if (__builtin_cpu_supports("avx2")) return scan_avx2;
#endif
    return scan_narrow;
}

SharedScanFunction widest_shared_scan() {
#if defined(RAMIFY_X86_WIDTHS)
    if (__builtin_cpu_supports("avx2")) return shared_avx2;
#endif
    return shared_narrow;
}

}  // namespace

void scan_column(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 LaneBest& best) {
    static const ScanFunction chosen = widest_scan();
    chosen(column, cells, totals, best);
}

void scan_column(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                 std::size_t lane, LaneBest& best) {
    scan_lanes<LabelVectors<double, sizeof(double), 1>>(column, cells, totals, lane, best);
}

void add_shared_scores(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                       double* right, double* left) {
    static const SharedScanFunction chosen = widest_shared_scan();
    if (column.n_groups() > 0) chosen(column, cells, totals, right, left);
}

}  // namespace ramify
