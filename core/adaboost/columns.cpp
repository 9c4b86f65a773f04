#include "adaboost/columns.hpp"

#include <algorithm>

#include "growing/split.hpp"

namespace ramify {

namespace {

/// The threshold below each rank but the last; `cut[rank]` says whether there is one.
struct Cuts {
    std::vector<bool> cut;
    std::vector<double> threshold;
};

Cuts exact_cuts(const DistinctValues& values) {
    Cuts cuts{std::vector<bool>(values.size(), true), std::vector<double>(values.size(), 0.0)};
    for (std::size_t r = 0; r + 1 < values.size(); ++r) {
        cuts.threshold[r] = threshold_between(values[r], values[r + 1], true);
    }
    return cuts;
}

/// If several steps lie between the same two values, the largest is used.
Cuts grid_cuts(const DistinctValues& values, std::size_t max_bins) {
    Cuts cuts{std::vector<bool>(values.size(), false), std::vector<double>(values.size(), 0.0)};
    const double n = static_cast<double>(max_bins);
    const double low = values.back();
    const double step = values.front() / n - low / n;  // the range itself may overflow
    std::size_t above = 0;
    for (std::size_t j = max_bins; j-- > 0;) {
        const double threshold = low + static_cast<double>(j) * step;
        while (above < values.size() && values[above] > threshold) ++above;
        if (above == 0 || above == values.size() || cuts.cut[above - 1]) continue;
        cuts.cut[above - 1] = true;
        cuts.threshold[above - 1] = threshold;
    }
    return cuts;
}

/// Ends a group at every cut; `column.rows` has `sizes[rank]` rows of each rank.
void set_groups(BoostingColumn& column, const std::vector<std::uint32_t>& sizes, const Cuts& cuts,
                std::size_t zero_rank) {
    std::uint32_t end = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r) {
        end += sizes[r];
        if (r == zero_rank) column.zero_group = column.ends.size();
        const bool last = r + 1 == sizes.size();
        if (last || cuts.cut[r]) column.ends.push_back(end);
        if (!last && cuts.cut[r]) column.thresholds.push_back(cuts.threshold[r]);
    }
}

/// Sorts rows by their number, smallest first. Rows with missing_rank are appended to `missing`.
template <typename NumberOf>
std::vector<std::uint32_t> sort_rows(std::size_t n_rows, std::vector<std::uint32_t>& sizes,
                                     std::vector<std::uint32_t>& missing, NumberOf number_of) {
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        const auto number = number_of(i);
        if (number == missing_rank) {
            missing.push_back(i);
        } else {
            ++sizes[number];
        }
    }
    std::vector<std::uint32_t> starts(sizes.size(), 0);
    for (std::size_t k = 1; k < sizes.size(); ++k) starts[k] = starts[k - 1] + sizes[k - 1];
    std::vector<std::uint32_t> rows(n_rows - missing.size());
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        const auto number = number_of(i);
        if (number != missing_rank) rows[starts[number]++] = i;
    }
    return rows;
}

BoostingColumn nominal_column(const Feature& feature, std::size_t n_rows) {
    BoostingColumn column;
    column.nominal = true;
    std::vector<std::uint32_t> sizes(static_cast<std::size_t>(feature.n_categories), 0);
    column.rows = sort_rows(n_rows, sizes, column.missing, [&](std::uint32_t i) {
        return feature.codes[i] < 0 ? missing_rank : static_cast<std::uint32_t>(feature.codes[i]);
    });
    std::uint32_t end = 0;
    for (const auto size : sizes) column.ends.push_back(end += size);
    return column;
}

BoostingColumn numeric_column(const Feature& feature, std::size_t n_rows, std::size_t max_bins) {
    BoostingColumn column;
    std::vector<std::uint32_t> sizes(feature.values.size(), 0);
    std::size_t zero_rank = BoostingColumn::no_group;
    if (feature.kind == FeatureKind::sparse) {
        for (const auto& cell : feature.stored) {
            ++sizes[cell.rank];
            column.rows.push_back(cell.row);
        }
        column.missing = feature.missing_rows;
        zero_rank = feature.zero_rank;
    } else {
        column.rows = sort_rows(n_rows, sizes, column.missing,
                                [&](std::uint32_t i) { return feature.ranks[i]; });
    }
    if (feature.values.empty()) return column;
    const auto cuts =
        max_bins == 0 ? exact_cuts(feature.values) : grid_cuts(feature.values, max_bins);
    set_groups(column, sizes, cuts, zero_rank);
    return column;
}

}  // namespace

std::vector<BoostingColumn> make_boosting_columns(const Dataset& dataset, std::size_t max_bins) {
    std::vector<BoostingColumn> columns;
    columns.reserve(dataset.features.size());
    for (const auto& feature : dataset.features) {
        columns.push_back(feature.kind == FeatureKind::nominal
                              ? nominal_column(feature, dataset.n_rows)
                              : numeric_column(feature, dataset.n_rows, max_bins));
    }
    return columns;
}

void mark_right(const BoostingColumn& column, const BoostingTest& test,
                std::span<std::uint8_t> right) {
    const bool zeros_right = !column.nominal && column.zero_group <= test.group;
    std::ranges::fill(right, zeros_right ? std::uint8_t{1} : std::uint8_t{0});
    std::size_t i = 0;
    for (std::size_t g = 0; g < column.n_groups(); ++g) {
        const bool side = column.nominal ? test.category_right[g] != 0 : g <= test.group;
        for (; i < column.ends[g]; ++i) right[column.rows[i]] = side ? 1 : 0;
    }
    for (const auto row : column.missing) right[row] = test.default_right ? 1 : 0;
}

}  // namespace ramify
