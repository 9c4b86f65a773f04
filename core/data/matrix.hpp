// Borrowed matrices: dense, or sparse by rows or by columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ramify {

/// A dense matrix of float or double, with strides counted in elements.
template <typename T>
struct MatrixView {
    const T* data;
    std::size_t n_rows;
    std::size_t n_columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    T cell(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride +
                    static_cast<std::ptrdiff_t>(column) * column_stride];
    }
    double at(std::size_t row, std::size_t column) const {
        return static_cast<double>(cell(row, column));
    }
};

/// A sparse matrix by columns; cells that are not stored are zero. Rows increase in a column.
struct CscView {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> data;
    std::size_t n_rows;
};

/// A sparse matrix by rows; cells that are not stored are zero. Columns increase in a row.
struct CsrView {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> data;
    std::size_t n_columns;
};

}  // namespace ramify
