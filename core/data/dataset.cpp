#include "data/dataset.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace ramify {

namespace {

/// A value and its row, the value mapped to an integer in the opposite order: sorting by key sorts
/// the values in decreasing order.
struct KeyedRow {
    std::uint64_t key;
    std::uint32_t row;
};

std::uint64_t descending_key(double value) {
    if (value == 0.0) value = 0.0;  // -0.0 and 0.0 are the same value
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto ascending = (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
    return ~ascending;
}

double value_of_key(std::uint64_t key) {
    const auto ascending = ~key;
    const auto bits = (ascending >> 63) != 0 ? ascending & ~(std::uint64_t{1} << 63) : ~ascending;
    return std::bit_cast<double>(bits);
}

bool smaller_key(const KeyedRow& a, const KeyedRow& b) {
    return a.key < b.key;
}

constexpr int digit_bits = 11;
constexpr int low_bits = 64 - 3 * digit_bits;

/// Stable sort by the upper bits of the keys, a digit at a time; digits that all keys share are
/// skipped.
void sort_by_upper_bits(std::vector<KeyedRow>& items, std::vector<KeyedRow>& scratch) {
    constexpr std::size_t n_digits = std::size_t{1} << digit_bits;
    scratch.resize(items.size());
    for (int shift = low_bits; shift < 64; shift += digit_bits) {
        std::uint32_t starts[n_digits + 1] = {};
        for (const auto& item : items) ++starts[((item.key >> shift) & (n_digits - 1)) + 1];
        const auto first_digit = (items.front().key >> shift) & (n_digits - 1);
        if (starts[first_digit + 1] == items.size()) continue;
        for (std::size_t d = 0; d < n_digits; ++d) starts[d + 1] += starts[d];
        for (const auto& item : items) {
            scratch[starts[(item.key >> shift) & (n_digits - 1)]++] = item;
        }
        items.swap(scratch);
    }
}

/// Stable sort by key. Most values differ in their upper bits; the few that do not are put in
/// order at the end.
void sort_by_key(std::vector<KeyedRow>& items, std::vector<KeyedRow>& scratch) {
    constexpr std::size_t small = 256;
    if (items.size() < small) {
        std::ranges::stable_sort(items, smaller_key);
        return;
    }
    sort_by_upper_bits(items, scratch);
    for (auto run = items.begin(); run != items.end();) {
        auto end = run + 1;
        bool sorted = true;
        for (; end != items.end() && end->key >> low_bits == run->key >> low_bits; ++end) {
            sorted &= (end - 1)->key <= end->key;
        }
        if (!sorted) std::stable_sort(run, end, smaller_key);
        run = end;
    }
}

/// Turns columns into features one after the other, reusing its buffers.
class FeatureBuilder {
  public:
    FeatureBuilder(std::size_t n_rows, bool all_dense) : n_rows_(n_rows), all_dense_(all_dense) {}

    void clear() {
        items_.clear();
        missing_.clear();
    }
    void add(std::uint32_t row, double value) {
        if (std::isnan(value)) {
            missing_.push_back(row);
        } else if (value != 0.0) {
            items_.push_back({descending_key(value), row});
        }
    }
    std::size_t n_zero() const { return n_rows_ - items_.size() - missing_.size(); }
    bool has_missing() const { return !missing_.empty(); }

    /// Cells given by add(); every other row is zero.
    Feature numeric() {
        sort_by_key(items_, scratch_);
        Feature feature;
        const bool sparse = !all_dense_ && 2 * n_zero() > n_rows_;
        feature.kind = sparse ? FeatureKind::sparse : FeatureKind::dense;
        assign_ranks(feature);
        if (sparse) {
            feature.missing_rows = missing_;
            feature.stored_by_row = feature.stored;
            std::ranges::sort(feature.stored_by_row, {}, &RankedRow::row);
            // Ranks per row take less memory than the cells, and are faster to look up.
            if (8 * items_.size() > n_rows_) spread_ranks(feature);
        } else {
            spread_ranks(feature);
            feature.stored = {};
        }
        return feature;
    }

  private:
    /// Lists distinct values in decreasing order, zero included; fills stored and zero_rank.
    void assign_ranks(Feature& feature) const {
        const auto zero_key = descending_key(0.0);
        const bool zero_occurs = n_zero() > 0;
        bool zero_placed = false;
        feature.stored.reserve(items_.size());
        std::uint64_t last_key = 0;
        for (const auto& item : items_) {
            if (zero_occurs && !zero_placed && item.key > zero_key) {
                place_zero(feature);
                zero_placed = true;
                last_key = zero_key;
            }
            if (feature.values.empty() || item.key != last_key) {
                feature.values.push_back(value_of_key(item.key));
                last_key = item.key;
            }
            feature.stored.push_back(
                {item.row, static_cast<std::uint32_t>(feature.values.size() - 1)});
        }
        if (zero_occurs && !zero_placed) place_zero(feature);
    }

    static void place_zero(Feature& feature) {
        feature.zero_rank = static_cast<std::uint32_t>(feature.values.size());
        feature.values.push_back(0.0);
    }

    void spread_ranks(Feature& feature) const {
        feature.ranks.assign(n_rows_, feature.zero_rank);
        for (const auto& cell : feature.stored) feature.ranks[cell.row] = cell.rank;
        for (const auto row : missing_) feature.ranks[row] = missing_rank;
    }

    std::size_t n_rows_;
    bool all_dense_;
    std::vector<KeyedRow> items_;
    std::vector<KeyedRow> scratch_;
    std::vector<std::uint32_t> missing_;
};

void set_code(Feature& feature, std::size_t row, double value) {
    if (std::isnan(value)) {
        feature.codes[row] = -1;
    } else if (value >= 0 && value < feature.n_categories &&
               value == static_cast<double>(static_cast<std::int32_t>(value))) {
        feature.codes[row] = static_cast<std::int32_t>(value);
    } else {
        throw std::invalid_argument(
            "cells of a nominal column must be codes below its number of categories");
    }
}

/// Finds the most frequent code; returns whether a cell is missing.
bool count_codes(Feature& feature) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(feature.n_categories) + 1, 0);
    for (const auto code : feature.codes) ++counts[static_cast<std::size_t>(code + 1)];
    const auto largest = std::max_element(counts.begin() + 1, counts.end());
    feature.common = static_cast<std::int32_t>(largest - counts.begin()) - 1;
    return counts[0] > 0;
}

Feature nominal_feature(std::size_t n_rows, std::int32_t n_categories) {
    Feature feature;
    feature.kind = FeatureKind::nominal;
    feature.n_categories = n_categories;
    feature.codes.assign(n_rows, 0);
    return feature;
}

/// One builder per thread, and a place for the features of all columns.
class DatasetBuilder {
  public:
    DatasetBuilder(std::size_t n_rows, std::size_t n_columns, bool all_dense, unsigned n_threads)
        : builders_(std::max(1U, n_threads), FeatureBuilder(n_rows, all_dense)),
          any_missing_(n_columns, 0) {
        dataset_.n_rows = n_rows;
        dataset_.features.resize(n_columns);
    }
    unsigned n_threads() const { return static_cast<unsigned>(builders_.size()); }
    FeatureBuilder& cleared(unsigned thread) {
        builders_[thread].clear();
        return builders_[thread];
    }
    void put_numeric(std::size_t column, FeatureBuilder& builder) {
        any_missing_[column] = builder.has_missing();
        dataset_.features[column] = builder.numeric();
    }
    void put_nominal(std::size_t column, Feature feature) {
        any_missing_[column] = count_codes(feature);
        dataset_.features[column] = std::move(feature);
    }
    Dataset finish() {
        dataset_.any_missing = std::ranges::any_of(any_missing_, [](auto any) { return any; });
        return std::move(dataset_);
    }

  private:
    std::vector<FeatureBuilder> builders_;
    std::vector<std::uint8_t> any_missing_;  // per column
    Dataset dataset_;
};

}  // namespace

template <typename T>
Dataset Dataset::from_dense(MatrixView<T> X, std::span<const std::int32_t> n_categories,
                            bool all_dense, unsigned n_threads, StopSignal& signal) {
    DatasetBuilder made(X.n_rows, X.n_columns, all_dense, n_threads);
    // A few columns at a time, so that a row-major matrix is read along its rows; fewer if each
    // thread has a copy of its own.
    const std::size_t width = made.n_threads() > 1 ? 4 : 16;
    std::vector<std::vector<double>> buffers(made.n_threads());
    const auto convert = [&](unsigned thread, std::size_t block) {
        const auto first = block * width;
        const auto last = std::min(first + width, X.n_columns);
        auto& cells = buffers[thread];
        cells.resize(width * X.n_rows);
        for (std::size_t r = 0; r < X.n_rows; ++r) {
            for (auto f = first; f < last; ++f) cells[(f - first) * X.n_rows + r] = X.at(r, f);
        }
        for (auto f = first; f < last; ++f) {
            signal.check();
            const double* column = cells.data() + (f - first) * X.n_rows;
            if (n_categories[f] > 0) {
                auto feature = nominal_feature(X.n_rows, n_categories[f]);
                for (std::size_t r = 0; r < X.n_rows; ++r) set_code(feature, r, column[r]);
                made.put_nominal(f, std::move(feature));
                continue;
            }
            auto& builder = made.cleared(thread);
            for (std::size_t r = 0; r < X.n_rows; ++r) {
                builder.add(static_cast<std::uint32_t>(r), column[r]);
            }
            made.put_numeric(f, builder);
        }
    };
    parallel_for(made.n_threads(), (X.n_columns + width - 1) / width, signal, convert);
    return made.finish();
}

template Dataset Dataset::from_dense(MatrixView<float>, std::span<const std::int32_t>, bool,
                                     unsigned, StopSignal&);
template Dataset Dataset::from_dense(MatrixView<double>, std::span<const std::int32_t>, bool,
                                     unsigned, StopSignal&);

Dataset Dataset::from_csc(CscView X, std::span<const std::int32_t> n_categories, bool all_dense,
                          unsigned n_threads, StopSignal& signal) {
    const std::size_t n_columns = X.indptr.size() - 1;
    DatasetBuilder made(X.n_rows, n_columns, all_dense, n_threads);
    const auto convert = [&](unsigned thread, std::size_t f) {
        signal.check();
        const auto begin = static_cast<std::size_t>(X.indptr[f]);
        const auto end = static_cast<std::size_t>(X.indptr[f + 1]);
        if (n_categories[f] > 0) {
            auto feature = nominal_feature(X.n_rows, n_categories[f]);
            for (auto k = begin; k < end; ++k) {
                set_code(feature, static_cast<std::size_t>(X.indices[k]), X.data[k]);
            }
            made.put_nominal(f, std::move(feature));
            return;
        }
        auto& builder = made.cleared(thread);
        for (auto k = begin; k < end; ++k) {
            builder.add(static_cast<std::uint32_t>(X.indices[k]), X.data[k]);
        }
        made.put_numeric(f, builder);
    };
    parallel_for(made.n_threads(), n_columns, signal, convert);
    return made.finish();
}

}  // namespace ramify
