// The columns of X as boosting needs them in every round: rows sorted from the largest value down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace ramify {

/// One column, with its rows in groups that no test separates: equal numbers, numbers between two
/// steps of a grid, or one category. Group g is rows[ends[g - 1]] .. rows[ends[g] - 1].
struct BoostingColumn {
    bool nominal = false;
    std::vector<std::uint32_t> rows;     // numeric: from the largest value down; nominal: by code
    std::vector<std::uint32_t> ends;     // end of each group
    std::vector<double> thresholds;      // numeric: threshold below each group but the last
    std::vector<std::uint32_t> missing;  // rows with a missing value
    std::size_t zero_group = no_group;   // sparse: group of the rows not listed

    static constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    std::size_t n_groups() const { return ends.size(); }
    std::size_t begin(std::size_t group) const { return group == 0 ? 0 : ends[group - 1]; }
};

/// With max_bins = 0 there is a threshold between any two consecutive values. Otherwise the
/// thresholds are min + j * (max - min) / max_bins for j = 0, ..., max_bins - 1.
std::vector<BoostingColumn> make_boosting_columns(const Dataset& dataset, std::size_t max_bins);

/// A test sends rows with x > threshold, or with a category in category_right, to the right.
/// Without a test (feature -1), all rows go left.
struct BoostingTest {
    std::int32_t feature = -1;
    std::size_t group = 0;  // the last group on the right side, for training rows
    double threshold = 0;
    bool default_right = false;  // whether missing values go right
    std::vector<std::uint8_t> category_right;
};

/// Sets `right` to 1 for the training rows that the test sends right, and to 0 for all others.
void mark_right(const BoostingColumn& column, const BoostingTest& test,
                std::span<std::uint8_t> right);

}  // namespace ramify
