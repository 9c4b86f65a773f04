#include "data/codes.hpp"

#include <algorithm>
#include <limits>

#include "data/dataset.hpp"

namespace ramify {

namespace {

/// If a smaller share of cells is nonzero, counting all cells costs more than it saves.
constexpr double min_filled = 0.2;

std::size_t n_filled(const Feature& feature, std::size_t n_rows) {
    return feature.kind == FeatureKind::sparse
               ? feature.stored.size() + feature.missing_rows.size()
               : n_rows;
}

std::size_t count_values(const Feature& feature) {
    return feature.kind == FeatureKind::nominal ? static_cast<std::size_t>(feature.n_categories)
                                                : feature.values.size();
}

bool counting_suits(const Dataset& dataset) {
    double filled = 0;
    for (const Feature& feature : dataset.features) {
        if (count_values(feature) >= std::numeric_limits<std::uint16_t>::max()) return false;
        filled += static_cast<double>(n_filled(feature, dataset.n_rows));
    }
    const auto n_cells = static_cast<double>(dataset.n_rows * dataset.features.size());
    return filled >= min_filled * n_cells;
}

void fill_column(const Feature& feature, std::size_t n_rows, std::uint16_t* column) {
    const auto missing = static_cast<std::uint16_t>(count_values(feature));
    switch (feature.kind) {
        case FeatureKind::nominal:
            std::ranges::transform(feature.codes, column, [&](std::int32_t code) {
                return code < 0 ? missing : static_cast<std::uint16_t>(code);
            });
            return;
        case FeatureKind::dense:
            std::ranges::transform(feature.ranks, column, [&](std::uint32_t rank) {
                return rank == missing_rank ? missing : static_cast<std::uint16_t>(rank);
            });
            return;
        case FeatureKind::sparse:
            std::fill_n(column, n_rows, static_cast<std::uint16_t>(feature.zero_rank));
            for (const auto& cell : feature.stored) {
                column[cell.row] = static_cast<std::uint16_t>(cell.rank);
            }
            for (const auto row : feature.missing_rows) column[row] = missing;
            return;
    }
}

/// Counting sort of the rows by code.
void place_rows(const std::uint16_t* column, std::size_t n_rows, std::uint32_t n_values,
                std::uint16_t* position, std::uint16_t* row, std::uint16_t* start) {
    std::vector<std::uint16_t> next(n_values + 1, 0);
    for (std::size_t r = 0; r < n_rows; ++r) ++next[column[r] + 1];
    for (std::uint32_t code = 0; code < n_values; ++code) next[code + 1] += next[code];
    std::ranges::copy(next, start);
    for (std::size_t r = 0; r < n_rows; ++r) {
        position[r] = next[column[r]]++;
        row[position[r]] = static_cast<std::uint16_t>(r);
    }
}

}  // namespace

const PositionColumns& CodeCache::positions_of(const Dataset& dataset) {
    const CodeColumns& codes = of(dataset);
    std::call_once(positions_made_, [&] {
        positions_.position.resize(codes.cells.size());
        positions_.row.resize(codes.cells.size());
        positions_.start.resize(codes.n_cells);
        for (std::size_t f = 0; f < codes.n_values.size(); ++f) {
            place_rows(codes.column(f), codes.n_rows, codes.n_values[f],
                       positions_.position.data() + f * codes.n_rows,
                       positions_.row.data() + f * codes.n_rows,
                       positions_.start.data() + codes.first_cell[f]);
        }
    });
    return positions_;
}

const CodeColumns& CodeCache::of(const Dataset& dataset) {
    std::call_once(made_, [&] {
        if (!counting_suits(dataset)) return;
        columns_.n_rows = dataset.n_rows;
        columns_.cells.resize(dataset.n_rows * dataset.features.size());
        for (std::size_t f = 0; f < dataset.features.size(); ++f) {
            const Feature& feature = dataset.features[f];
            fill_column(feature, dataset.n_rows, columns_.cells.data() + f * dataset.n_rows);
            columns_.n_values.push_back(static_cast<std::uint32_t>(count_values(feature)));
            columns_.first_cell.push_back(columns_.n_cells);
            columns_.n_cells += columns_.n_values.back() + 1;
            columns_.max_values =
                std::max(columns_.max_values, std::size_t{columns_.n_values.back()});
        }
    });
    return columns_;
}

}  // namespace ramify
