// The test of an inner node, as a search finds it and a tree stores it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ramify {

/// The score of a test that must not be used.
inline constexpr double rejected = -std::numeric_limits<double>::infinity();

/// A test with its score; feature -1: no test.
struct Split {
    std::int32_t feature = -1;
    double score = rejected;
    double gain = 0;               // weight times decrease in impurity
    std::uint32_t upper_rank = 0;  // numeric: rank of the smallest value above the threshold
    std::uint32_t lower_rank = 0;  // numeric: rank of the largest value at or below it
    double threshold = 0;          // numeric
    std::vector<std::int32_t> category_branch;  // nominal: branch per category; -1: none
    std::int32_t missing_branch = -1;  // of rows with a missing value; -1: no such row, or divided
    std::vector<double>
        share;  // per branch: its part of the weight, without rows that are divided
};

/// The threshold of a numeric test between two distinct values of its feature. CLUS rounds the
/// middle seen from the larger value.
inline double threshold_between(double upper, double lower, bool midpoint, bool clus = false) {
    if (!midpoint) return lower;
    const double half = (upper - lower) / 2;
    const double middle = clus ? upper - half : lower + half;
    // Adjacent numbers have no midpoint, and the difference of huge numbers overflows.
    return std::isfinite(middle) && middle < upper ? middle : lower;
}

}  // namespace ramify
