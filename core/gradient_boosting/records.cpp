#include "gradient_boosting/records.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "common/lanes.hpp"
#include "common/simd.hpp"

namespace ramify {

namespace {

// Histograms of this size stay in the first-level cache; the rows of a part are read once for
// each.
constexpr std::size_t max_block_bytes = 24'576;
// How many rows ahead bins are loaded into the cache.
constexpr std::size_t rows_ahead = 12;

/// A feature as the loops below read it.
struct Column {
    std::uint32_t feature;
    std::uint32_t first;  // where its bins begin
};

/// to += from, in vectors: compilers do not find those of so few floats in a loop.
template <std::size_t n>
RAMIFY_INSIDE void add_record(float* to, const float* from) {
#if defined(__GNUC__) || defined(__clang__)
    constexpr std::size_t width = n >= 16 ? 16 : n >= 8 ? 8 : 4;
    typedef float Floats __attribute__((vector_size(width * sizeof(float))));
    Floats sum;
    Floats more;
    std::memcpy(&sum, to, sizeof(sum));
    std::memcpy(&more, from, sizeof(more));
    sum += more;
    std::memcpy(to, &sum, sizeof(sum));
    if constexpr (n > width) add_record<n - width>(to + width, from + width);
#else
    for (std::size_t t = 0; t < n; ++t) to[t] += from[t];
#endif
}

template <std::size_t stride>
RAMIFY_INSIDE void add_all(const BinRows& bins, std::span<const Column> columns,
                           const RecordedRows& part, float* __restrict sums) {
    for (std::size_t i = 0; i < part.n_rows; ++i) {
        const std::uint8_t* __restrict row = bins.of(part.rows[i]);
        if (i + rows_ahead < part.n_rows) {
            prefetch(bins.of(part.rows[i + rows_ahead]) + columns.front().feature);
        }
        float record[stride];
        std::memcpy(record, part.records + i * stride, sizeof(record));
        for (const auto& column : columns) {
            add_record<stride>(sums + (column.first + row[column.feature]) * stride, record);
        }
    }
}

// One function for every stride: the compiler keeps a record in vectors of the processor.
#define RAMIFY_ADD_RECORDS(stride)                                                      \
    RAMIFY_ANY_WIDTH void add_records_##stride(const BinRows& bins,                     \
                                               std::span<const Column> columns,         \
                                               const RecordedRows& part, float* sums) { \
        add_all<stride>(bins, columns, part, sums);                                     \
    }
RAMIFY_ADD_RECORDS(4)
RAMIFY_ADD_RECORDS(8)
RAMIFY_ADD_RECORDS(12)
RAMIFY_ADD_RECORDS(16)
RAMIFY_ADD_RECORDS(20)
#undef RAMIFY_ADD_RECORDS

using AddRecords = void (*)(const BinRows&, std::span<const Column>, const RecordedRows&, float*);
constexpr AddRecords add_records[] = {add_records_4, add_records_8, add_records_12, add_records_16,
                                      add_records_20};
static_assert(std::size(add_records) == record_stride(max_few_outputs) / 4);

/// Calls visit with the stride as a constant.
template <typename Visit>
void with_stride(std::size_t stride, Visit visit) {
    switch (stride) {
        case 4:
            return visit(std::integral_constant<std::size_t, 4>{});
        case 8:
            return visit(std::integral_constant<std::size_t, 8>{});
        case 12:
            return visit(std::integral_constant<std::size_t, 12>{});
        case 16:
            return visit(std::integral_constant<std::size_t, 16>{});
        default:
            return visit(std::integral_constant<std::size_t, record_stride(max_few_outputs)>{});
    }
}

void add_weights(const BinRows& bins, std::span<const Column> columns, const RecordedRows& part,
                 const float* weight, double* weights) {
    for (std::size_t i = 0; i < part.n_rows; ++i) {
        const std::uint8_t* row = bins.of(part.rows[i]);
        const auto of_row = static_cast<double>(weight[part.rows[i]]);
        for (const auto& column : columns) weights[column.first + row[column.feature]] += of_row;
    }
}

}  // namespace

BinRows::BinRows(const BinnedData& data)
    : n_features_(data.features.size()), bins_(data.n_rows * n_features_) {
    // A few rows at a time, so that what is written stays in the cache.
    constexpr std::size_t at_once = 256;
    for (std::size_t first = 0; first < data.n_rows; first += at_once) {
        const auto last = std::min(first + at_once, data.n_rows);
        for (std::size_t f = 0; f < n_features_; ++f) {
            const std::uint8_t* column = data.features[f].bins.data();
            for (auto row = first; row < last; ++row) bins_[row * n_features_ + f] = column[row];
        }
    }
}

void RecordSums::reset(std::span<const std::size_t> first_bin, std::size_t stride, bool weighted) {
    sums_.resize(first_bin.back() * stride);
    weights_.resize(weighted ? first_bin.back() : 0);
}

void RecordSums::fill(const BinRows& bins, std::span<const std::int32_t> features,
                      std::span<const std::size_t> first_bin, const RecordedRows& part,
                      const float* weight) {
    std::ranges::fill(sums_, 0.0F);
    std::ranges::fill(weights_, 0.0);
    std::vector<Column> columns;
    for (std::size_t first = 0; first < features.size();) {
        columns.clear();
        auto i = first;
        do {
            columns.push_back({static_cast<std::uint32_t>(features[i]),
                               static_cast<std::uint32_t>(first_bin[i])});
            ++i;
        } while (i < features.size() &&
                 (first_bin[i + 1] - first_bin[first]) * part.stride * sizeof(float) <=
                     max_block_bytes);
        add_records[part.stride / 4 - 1](bins, columns, part, sums_.data());
        if (weight != nullptr) add_weights(bins, columns, part, weight, weights_.data());
        first = i;
    }
}

void sum_records(const float* records, std::size_t n_rows, std::size_t n_outputs, float* sums) {
    with_stride(record_stride(n_outputs), [&](auto stride) {
        float cell[stride] = {};
        for (std::size_t i = 0; i < n_rows; ++i) add_record<stride>(cell, records + i * stride);
        for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += cell[k];
    });
}

void divide_records(const float* from, const std::uint8_t* passes, std::size_t n_rows,
                    std::size_t stride, std::size_t yes, std::size_t no, float* to) {
    with_stride(stride, [&](auto constant) {
        constexpr std::size_t n = constant;
        for (std::size_t i = 0; i < n_rows; ++i) {
            const bool first = passes[i] != 0;
            std::memcpy(to + (first ? yes : no) * n, from + i * n, n * sizeof(float));
            yes += first ? 1 : 0;
            no += first ? 0 : 1;
        }
    });
}

}  // namespace ramify
