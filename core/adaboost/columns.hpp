// X as boosting reads it round after round: rows of every column from the largest value down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace ramify {

/// One column, its rows in groups that no test separates: equal numbers, numbers between two
/// steps of a grid, or one category. Group g is rows[ends[g - 1]] to rows[ends[g]].
struct BoostingColumn {
    bool nominal = false;
    std::vector<std::uint32_t> rows;     // numeric: from the largest value down; nominal: by code
    std::vector<std::uint32_t> ends;     // where each group ends
    std::vector<double> thresholds;      // numeric: below each group but the last
    std::vector<std::uint32_t> missing;  // rows whose value is unknown
    std::size_t zero_group = no_group;   // sparse: the group of all rows that are not listed

    static constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    std::size_t n_groups() const { return ends.size(); }
};

/// n_steps 0: a threshold between any two neighbouring values; otherwise only at the least value
/// plus j steps of that part of the range, j = 0 to n_steps - 1.
std::vector<BoostingColumn> make_boosting_columns(const Dataset& dataset, std::size_t n_steps);

/// One test. Right is x > threshold, or a category with category_right; feature -1 sends all left.
struct BoostingTest {
    std::int32_t feature = -1;
    std::size_t group = 0;  // the last group on the right, for training rows
    double threshold = 0;
    bool default_right = false;  // where unknown values go
    std::vector<std::uint8_t> category_right;
};

/// Writes 1 for the training rows that the test sends right, 0 for the others.
void mark_right(const BoostingColumn& column, const BoostingTest& test,
                std::span<std::uint8_t> right);

}  // namespace ramify
