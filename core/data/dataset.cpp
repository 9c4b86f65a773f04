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
        list_values(feature);
        if (all_dense_ || 2 * n_zero() <= n_rows_) {
            spread_ranks(feature);
            return feature;
        }
        feature.kind = FeatureKind::sparse;
        feature.missing_rows = missing_;
        feature.stored.reserve(items_.size());
        for (std::size_t i = 0; i < items_.size(); ++i) {
            feature.stored.push_back({items_[i].row, ranks_[i]});
        }
        feature.stored_by_row = feature.stored;
        std::ranges::sort(feature.stored_by_row, {}, &RankedRow::row);
        // Ranks per row take less memory than the cells, and are faster to look up.
        if (8 * items_.size() > n_rows_) spread_ranks(feature);
        return feature;
    }

  private:
    /// Lists distinct values in decreasing order, zero included; fills zero_rank and ranks_.
    void list_values(Feature& feature) {
        const auto zero_key = descending_key(0.0);
        bool zero_is_due = n_zero() > 0;
        values_.clear();
        ranks_.clear();
        const auto place_zero = [&] {
            feature.zero_rank = static_cast<std::uint32_t>(values_.size());
            values_.push_back(0.0);
            zero_is_due = false;
        };
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (zero_is_due && items_[i].key > zero_key) place_zero();
            if (i == 0 || items_[i].key != items_[i - 1].key) {
                values_.push_back(value_of_key(items_[i].key));
            }
            ranks_.push_back(static_cast<std::uint32_t>(values_.size() - 1));
        }
        if (zero_is_due) place_zero();
        feature.values = DistinctValues(values_);
    }

    void spread_ranks(Feature& feature) const {
        feature.ranks.assign(n_rows_, feature.zero_rank);
        for (std::size_t i = 0; i < items_.size(); ++i) feature.ranks[items_[i].row] = ranks_[i];
        for (const auto row : missing_) feature.ranks[row] = missing_rank;
    }

    std::size_t n_rows_;
    bool all_dense_;
    std::vector<KeyedRow> items_;
    std::vector<KeyedRow> scratch_;
    std::vector<std::uint32_t> missing_;
    std::vector<double> values_;        // of the column, distinct
    std::vector<std::uint32_t> ranks_;  // of items_
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

/// One builder per thread; hands over the features of all columns.
class ColumnConverter {
  public:
    ColumnConverter(std::size_t n_rows, std::size_t n_columns, const Conversion& conversion,
                    const FeatureTaker& take)
        : builders_(std::max(1U, conversion.n_threads),
                    FeatureBuilder(n_rows, conversion.all_dense)),
          any_missing_(n_columns, 0),
          take_(take) {}
    unsigned n_threads() const { return static_cast<unsigned>(builders_.size()); }
    FeatureBuilder& cleared(unsigned thread) {
        builders_[thread].clear();
        return builders_[thread];
    }
    void put_numeric(std::size_t column, FeatureBuilder& builder) {
        any_missing_[column] = builder.has_missing();
        take_(column, builder.numeric());
    }
    void put_nominal(std::size_t column, Feature feature) {
        any_missing_[column] = count_codes(feature);
        take_(column, std::move(feature));
    }
    bool any_missing() const {
        return std::ranges::any_of(any_missing_, [](auto any) { return any; });
    }

  private:
    std::vector<FeatureBuilder> builders_;
    std::vector<std::uint8_t> any_missing_;  // per column
    const FeatureTaker& take_;
};

template <typename View>
Dataset make_dataset(View X, std::size_t n_columns, const Conversion& conversion,
                     StopSignal& signal) {
    Dataset dataset;
    dataset.n_rows = X.n_rows;
    dataset.features.resize(n_columns);
    dataset.any_missing =
        convert_columns(X, conversion, signal, [&](std::size_t column, Feature feature) {
            dataset.features[column] = std::move(feature);
        });
    return dataset;
}

}  // namespace

template <typename T>
bool convert_columns(MatrixView<T> X, const Conversion& conversion, StopSignal& signal,
                     const FeatureTaker& take) {
    ColumnConverter made(X.n_rows, X.n_columns, conversion, take);
    // As many columns at a time as a line of the cache has cells, so that a row-major matrix is
    // read along its rows; fewer if there are columns for some of the threads only.
    const std::size_t width =
        std::min(64 / sizeof(T), std::max(std::size_t{4}, X.n_columns / made.n_threads()));
    std::vector<std::vector<T>> buffers(made.n_threads());
    const auto convert = [&](unsigned thread, std::size_t block) {
        const auto first = block * width;
        const auto last = std::min(first + width, X.n_columns);
        auto& cells = buffers[thread];
        cells.resize(width * X.n_rows);
        for (std::size_t r = 0; r < X.n_rows; ++r) {
            for (auto f = first; f < last; ++f) cells[(f - first) * X.n_rows + r] = X.cell(r, f);
        }
        for (auto f = first; f < last; ++f) {
            signal.check();
            const T* column = cells.data() + (f - first) * X.n_rows;
            const auto n_categories = conversion.n_categories[f];
            if (n_categories > 0) {
                auto feature = nominal_feature(X.n_rows, n_categories);
                for (std::size_t r = 0; r < X.n_rows; ++r) {
                    set_code(feature, r, static_cast<double>(column[r]));
                }
                made.put_nominal(f, std::move(feature));
                continue;
            }
            auto& builder = made.cleared(thread);
            for (std::size_t r = 0; r < X.n_rows; ++r) {
                builder.add(static_cast<std::uint32_t>(r), static_cast<double>(column[r]));
            }
            made.put_numeric(f, builder);
        }
    };
    parallel_for(made.n_threads(), (X.n_columns + width - 1) / width, signal, convert);
    return made.any_missing();
}

template bool convert_columns(MatrixView<float>, const Conversion&, StopSignal&,
                              const FeatureTaker&);
template bool convert_columns(MatrixView<double>, const Conversion&, StopSignal&,
                              const FeatureTaker&);

bool convert_columns(CscView X, const Conversion& conversion, StopSignal& signal,
                     const FeatureTaker& take) {
    const std::size_t n_columns = X.indptr.size() - 1;
    ColumnConverter made(X.n_rows, n_columns, conversion, take);
    const auto convert = [&](unsigned thread, std::size_t f) {
        signal.check();
        const auto begin = static_cast<std::size_t>(X.indptr[f]);
        const auto end = static_cast<std::size_t>(X.indptr[f + 1]);
        const auto n_categories = conversion.n_categories[f];
        if (n_categories > 0) {
            auto feature = nominal_feature(X.n_rows, n_categories);
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
    return made.any_missing();
}

template <typename T>
Dataset Dataset::from(MatrixView<T> X, const Conversion& conversion, StopSignal& signal) {
    return make_dataset(X, X.n_columns, conversion, signal);
}

template Dataset Dataset::from(MatrixView<float>, const Conversion&, StopSignal&);
template Dataset Dataset::from(MatrixView<double>, const Conversion&, StopSignal&);

Dataset Dataset::from(CscView X, const Conversion& conversion, StopSignal& signal) {
    return make_dataset(X, X.indptr.size() - 1, conversion, signal);
}

}  // namespace ramify
