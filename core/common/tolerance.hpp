// How much two sums may differ by rounding alone.
#pragma once

namespace ramify {

/// Weights, row counts and gains are sums whose rounding depends on the order of their terms.
/// Relative differences below this are treated as ties.
inline constexpr double relative_tolerance = 1e-9;

/// The smallest sum that still reaches `limit` up to rounding (5 x 0.2 rows are one row).
constexpr double rounded_down(double limit) {
    return limit * (1 - relative_tolerance);
}

/// Whether a sum reaches a limit up to rounding.
constexpr bool reaches(double sum, double limit) {
    return sum >= rounded_down(limit);
}

/// When the score of one test counts as better than that of another.
struct ScoreTolerance {
    double floor = 0;  // smaller scores are rounding errors
    double step = 0;   // a score must beat the best by more than this

    bool better(double score, double best) const { return score > best + step; }
};

}  // namespace ramify
