#include "orders.hpp"

#include <algorithm>
#include <bit>

namespace ramify {

namespace {

bool has_sparse(const Dataset& dataset) {
    return std::ranges::any_of(dataset.features,
                               [](const Feature& f) { return f.kind == FeatureKind::sparse; });
}

}  // namespace

void sort_by_rank(std::vector<RankedEntry>& items, std::vector<RankedEntry>& scratch) {
    constexpr std::size_t small = 48;
    constexpr std::size_t n_digits = 256;
    const auto smaller = [](const RankedEntry& a, const RankedEntry& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.entry < b.entry;
    };
    if (items.size() < small) {
        std::sort(items.begin(), items.end(), smaller);
        return;
    }
    std::uint32_t largest = 0;
    for (const auto& item : items) largest = std::max(largest, item.rank);
    scratch.resize(items.size());
    for (int shift = 0; shift < static_cast<int>(std::bit_width(largest)); shift += 8) {
        std::uint32_t starts[n_digits + 1] = {};
        for (const auto& item : items) ++starts[((item.rank >> shift) & 255u) + 1];
        for (std::size_t d = 0; d < n_digits; ++d) starts[d + 1] += starts[d];
        for (const auto& item : items) scratch[starts[(item.rank >> shift) & 255u]++] = item;
        items.swap(scratch);
    }
}

// ---- SortedOrders --------------------------------------------------------------------------

SortedOrders::SortedOrders(const Dataset& dataset, bool store_all)
    : dataset_(dataset), store_all_(store_all) {
    if (has_sparse(dataset)) entry_of_row_.resize(dataset.n_rows);
}

void SortedOrders::reset(const NodeRows& rows) {
    if (!entry_of_row_.empty()) {
        ++stamp_;
        for (std::size_t e = 0; e < rows.size(); ++e) {
            entry_of_row_[rows.row[e]] = {stamp_, static_cast<std::uint32_t>(e)};
        }
    }
    rows_ = &rows;
}

FeatureOrder SortedOrders::order_of(std::uint32_t feature_index) {
    const Feature& feature = dataset_.features[feature_index];
    stored_.clear();
    missing_.clear();
    switch (feature.kind) {
        case FeatureKind::dense:
            gather_dense(feature);
            break;
        case FeatureKind::sparse:
            gather_sparse(feature);
            break;
        case FeatureKind::nominal:
            gather_nominal(feature);
            break;
    }
    return {stored_, missing_};
}

void SortedOrders::gather_dense(const Feature& feature) {
    for (std::size_t e = 0; e < rows_->size(); ++e) {
        const auto rank = feature.ranks[rows_->row[e]];
        auto& list = rank == missing_rank ? missing_ : stored_;
        list.push_back({static_cast<std::uint32_t>(e), rank});
    }
    sort_by_rank(stored_, scratch_);
}

void SortedOrders::gather_sparse(const Feature& feature) {
    for (const auto& cell : feature.stored) {
        const Place place = entry_of_row_[cell.row];
        if (place.stamp == stamp_) stored_.push_back({place.entry, cell.rank});
    }
    for (const auto row : feature.missing_rows) {
        const Place place = entry_of_row_[row];
        if (place.stamp == stamp_) missing_.push_back({place.entry, missing_rank});
    }
}

void SortedOrders::gather_nominal(const Feature& feature) {
    const std::int32_t implied = store_all_ ? -2 : feature.common;
    for (std::size_t e = 0; e < rows_->size(); ++e) {
        const auto code = feature.codes[rows_->row[e]];
        if (code == implied) continue;
        if (code < 0) {
            missing_.push_back({static_cast<std::uint32_t>(e), missing_rank});
        } else {
            stored_.push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(code)});
        }
    }
    sort_by_rank(stored_, scratch_);
}

// ---- KeptOrders ----------------------------------------------------------------------------

FeatureOrder KeptOrders::order(std::size_t k) const {
    const List& list = lists_[k];
    const RankedEntry* begin = items_.get() + list.begin;
    return {{begin, list.n_stored}, {begin + list.n_stored, list.n_missing}};
}

FeatureOrder KeptOrders::order_of(std::uint32_t feature) const {
    const auto found = std::ranges::lower_bound(lists_, feature, {}, &List::feature);
    return order(static_cast<std::size_t>(found - lists_.begin()));
}

KeptOrders KeptOrders::of_root(const Dataset& dataset, const NodeRows& rows, bool store_all) {
    KeptOrders orders;
    SortedOrders sorter(dataset, store_all);
    sorter.reset(rows);
    std::vector<RankedEntry> items;
    for (std::uint32_t f = 0; f < dataset.features.size(); ++f) {
        const FeatureKind kind = dataset.features[f].kind;
        const FeatureOrder order = sorter.order_of(f);
        if (order.constant(kind, rows.size())) continue;
        orders.lists_.push_back({f, static_cast<std::uint32_t>(order.stored.size()),
                                 static_cast<std::uint32_t>(order.missing.size()), items.size()});
        items.insert(items.end(), order.stored.begin(), order.stored.end());
        items.insert(items.end(), order.missing.begin(), order.missing.end());
    }
    orders.n_items_ = items.size();
    orders.items_ = std::make_unique_for_overwrite<RankedEntry[]>(items.size() + 1);
    std::ranges::copy(items, orders.items_.get());
    return orders;
}

KeptOrders KeptOrders::of_child(const Dataset& dataset, std::span<const std::uint32_t> child_entry,
                                std::size_t child_size) const {
    KeptOrders child;
    child.lists_.reserve(lists_.size());
    // One item past the end: the loop below writes before it knows whether the item stays.
    const std::size_t capacity = std::min(n_items_, child_size * lists_.size()) + 1;
    child.items_ = std::make_unique_for_overwrite<RankedEntry[]>(capacity);
    RankedEntry* out = child.items_.get();
    const auto keep = [&](const RankedEntry* from, std::uint32_t n) {
        RankedEntry* start = out;
        for (std::uint32_t k = 0; k < n; ++k) {
            const auto entry = child_entry[from[k].entry];
            *out = {entry, from[k].rank};
            out += entry != no_entry;
        }
        return static_cast<std::uint32_t>(out - start);
    };
    for (const List& list : lists_) {
        RankedEntry* start = out;
        const RankedEntry* from = items_.get() + list.begin;
        const auto n_stored = keep(from, list.n_stored);
        const auto n_missing = keep(from + list.n_stored, list.n_missing);
        const FeatureOrder order{{start, n_stored}, {start + n_stored, n_missing}};
        if (order.constant(dataset.features[list.feature].kind, child_size)) {
            out = start;
            continue;
        }
        child.lists_.push_back({list.feature, n_stored, n_missing,
                                static_cast<std::size_t>(start - child.items_.get())});
    }
    child.n_items_ = static_cast<std::size_t>(out - child.items_.get());
    return child;
}

}  // namespace ramify
