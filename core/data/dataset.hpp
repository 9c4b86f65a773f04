// The columns of X, prepared once per fit: every numeric value becomes a rank, so that later
// stages compare and sort small integers only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "data/codes.hpp"

namespace ramify {

/// A dense matrix of float or double, borrowed, with strides counted in elements.
template <typename T>
struct MatrixView {
    const T* data;
    std::size_t n_rows;
    std::size_t n_columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    double at(std::size_t row, std::size_t column) const {
        return static_cast<double>(data[static_cast<std::ptrdiff_t>(row) * row_stride +
                                        static_cast<std::ptrdiff_t>(column) * column_stride]);
    }
};

/// A sparse matrix by columns, borrowed; cells that are not stored are zero.
struct CscView {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> data;
    std::size_t n_rows;
};

/// One cell of a numeric column. Rank 0 is the largest value of the column.
struct RankedRow {
    std::uint32_t row;
    std::uint32_t rank;
};

enum class FeatureKind : std::uint8_t {
    dense,    // numeric, a rank for every row
    sparse,   // numeric, only cells that are not zero are stored
    nominal,  // a category code for every row
};

/// One column. Which members are filled depends on the kind.
struct Feature {
    FeatureKind kind = FeatureKind::dense;
    std::vector<double> values;  // numeric: distinct values, decreasing; values[rank]
    // Dense, and sparse unless very few cells are stored: rank per row, or missing_rank.
    std::vector<std::uint32_t> ranks;
    std::vector<RankedRow> stored;            // sparse: by rank, then row; cells that are not zero
    std::vector<RankedRow> stored_by_row;     // sparse: the same cells by row
    std::vector<std::uint32_t> missing_rows;  // sparse: rows whose value is missing
    std::uint32_t zero_rank = 0;              // sparse: the rank of 0.0 in values
    std::vector<std::int32_t> codes;          // nominal: code per row; -1: missing
    std::int32_t n_categories = 0;            // nominal
    std::int32_t common = -1;                 // nominal: the most frequent code
};

inline constexpr std::uint32_t missing_rank = 0xFFFFFFFFu;

/// An entry of a node and the rank of its value, or missing_rank.
struct RankedEntry {
    std::uint32_t entry;
    std::uint32_t rank;
};

struct Dataset {
    std::size_t n_rows = 0;
    std::vector<Feature> features;
    bool any_missing = false;
    std::shared_ptr<CodeCache> codes = std::make_shared<CodeCache>();

    bool has(FeatureKind kind) const {
        return std::ranges::any_of(features, [&](const Feature& f) { return f.kind == kind; });
    }

    /// `n_categories[f]` > 0 makes column f nominal: its cells are codes below that number.
    /// NaN is a missing cell. Columns with more than half of their cells zero are stored sparse,
    /// unless `all_dense`: scans skip the zeros of a sparse column, which changes the order of
    /// sums. Columns are divided among the threads.
    template <typename T>
    static Dataset from_dense(MatrixView<T> X, std::span<const std::int32_t> n_categories,
                              bool all_dense, unsigned n_threads, StopSignal& signal);
    static Dataset from_csc(CscView X, std::span<const std::int32_t> n_categories, bool all_dense,
                            unsigned n_threads, StopSignal& signal);
};

}  // namespace ramify
