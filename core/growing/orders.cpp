#include "growing/orders.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ramify {

// ---- SortedOrders --------------------------------------------------------------------------

SortedOrders::SortedOrders(const Dataset& dataset, bool store_all)
    : dataset_(dataset), store_all_(store_all) {
    if (dataset.has(FeatureKind::sparse)) entry_of_row_.resize(dataset.n_rows);
}

void SortedOrders::reset(const NodeRows& rows) {
    if (!entry_of_row_.empty()) {
        ++stamp_;
        for (std::size_t e = 0; e < rows.size(); ++e) {
            entry_of_row_[rows.row[e]] = {stamp_, static_cast<std::uint32_t>(e)};
        }
    }
    if (stored_.size() < rows.size() + 1) {
        stored_.resize(rows.size() + 1);
        missing_.resize(rows.size() + 1);
    }
    rows_ = &rows;
}

FeatureOrder SortedOrders::order_of(std::uint32_t feature_index) {
    const Feature& feature = dataset_.features[feature_index];
    switch (feature.kind) {
        case FeatureKind::dense:
            return gather_dense(feature);
        case FeatureKind::sparse:
            return gather_sparse(feature);
        case FeatureKind::nominal:
            break;
    }
    return gather_nominal(feature);
}

/// Sorts entries by rank, and lists those with missing_rank. Entries with implied_rank are left
/// out.
template <typename RankOf>
FeatureOrder SortedOrders::sort_by(std::size_t n_ranks, RankOf rank_of) {
    const auto n = static_cast<std::uint32_t>(rows_->size());
    sorter_.reset(n, n_ranks);
    std::size_t n_missing = 0;
    if (!sorter_.fits()) {
        std::size_t n_stored = 0;
        for (std::uint32_t e = 0; e < n; ++e) {
            const auto rank = rank_of(e);
            stored_[n_stored] = {e, rank};
            missing_[n_missing] = {e, rank};
            n_stored += rank < implied_rank;
            n_missing += rank == missing_rank;
        }
        const std::span<RankedEntry> stored(stored_.data(), n_stored);
        std::ranges::stable_sort(stored, {}, &RankedEntry::rank);
        return {stored, {missing_.data(), n_missing}};
    }
    for (std::uint32_t e = 0; e < n; ++e) {
        // Branch-free: both lists are written, and one of them advances.
        const auto rank = rank_of(e);
        sorter_.add_if(rank < implied_rank, e, rank);
        missing_[n_missing] = {e, rank};
        n_missing += rank == missing_rank;
    }
    return {sorter_.sort(), {missing_.data(), n_missing}};
}

FeatureOrder SortedOrders::gather_dense(const Feature& feature) {
    const std::uint32_t* ranks = feature.ranks.data();
    const std::uint32_t* row = rows_->row.data();
    return sort_by(feature.values.size(), [&](std::uint32_t e) { return ranks[row[e]]; });
}

FeatureOrder SortedOrders::gather_nominal(const Feature& feature) {
    const std::int32_t implied = store_all_ ? -2 : feature.common;
    return sort_by(static_cast<std::size_t>(feature.n_categories), [&](std::uint32_t e) {
        const auto code = feature.codes[rows_->row[e]];
        if (code == implied) return implied_rank;
        return code < 0 ? missing_rank : static_cast<std::uint32_t>(code);
    });
}

FeatureOrder SortedOrders::gather_sparse(const Feature& feature) {
    const std::size_t n_cells = feature.stored.size() + feature.missing_rows.size();
    if (!feature.ranks.empty() && 2 * rows_->size() < n_cells) {
        const std::uint32_t* row = rows_->row.data();
        return sort_by(feature.values.size(), [&](std::uint32_t e) {
            const auto rank = feature.ranks[row[e]];
            return rank == feature.zero_rank ? implied_rank : rank;
        });
    }
    if (rows_->size() * static_cast<std::size_t>(std::bit_width(n_cells)) < n_cells) {
        return look_up_sparse(feature);
    }
    std::size_t n_stored = 0;
    std::size_t n_missing = 0;
    for (const auto& cell : feature.stored) {
        const Place place = entry_of_row_[cell.row];
        stored_[n_stored] = {place.entry, cell.rank};
        n_stored += place.stamp == stamp_;
    }
    for (const auto row : feature.missing_rows) {
        const Place place = entry_of_row_[row];
        missing_[n_missing] = {place.entry, missing_rank};
        n_missing += place.stamp == stamp_;
    }
    return {{stored_.data(), n_stored}, {missing_.data(), n_missing}};
}

/// For nodes with far fewer rows than the column has cells: looks up each row.
FeatureOrder SortedOrders::look_up_sparse(const Feature& feature) {
    auto cell = feature.stored_by_row.begin();
    auto missing = feature.missing_rows.begin();
    return sort_by(feature.values.size(), [&](std::uint32_t e) {
        const auto row = rows_->row[e];
        cell = std::lower_bound(cell, feature.stored_by_row.end(), row,
                                [](const RankedRow& a, std::uint32_t b) { return a.row < b; });
        if (cell != feature.stored_by_row.end() && cell->row == row) return cell->rank;
        missing = std::lower_bound(missing, feature.missing_rows.end(), row);
        const bool is_missing = missing != feature.missing_rows.end() && *missing == row;
        return is_missing ? missing_rank : implied_rank;
    });
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

void KeptOrders::hand_down(const Dataset& dataset, std::span<const Child> children) const {
    if (children.size() == 2) {
        hand_down_to<2>(dataset, children.data());
        return;
    }
    for (const Child& child : children) hand_down_to<1>(dataset, &child);
}

template <std::size_t n_children>
void KeptOrders::hand_down_to(const Dataset& dataset, const Child* children) const {
    std::array<RankedEntry*, n_children> out;
    std::array<const std::uint32_t*, n_children> entry;
    for (std::size_t c = 0; c < n_children; ++c) {
        KeptOrders& orders = *children[c].orders;
        orders = {};
        orders.lists_.reserve(lists_.size());
        // One item more: the loop below writes before it knows whether the item stays.
        const std::size_t capacity = std::min(n_items_, children[c].size * lists_.size()) + 1;
        orders.items_ = std::make_unique_for_overwrite<RankedEntry[]>(capacity);
        out[c] = orders.items_.get();
        entry[c] = children[c].entry.data();
    }
    const auto keep = [&](const RankedEntry* from, std::uint32_t n) {
        for (std::uint32_t k = 0; k < n; ++k) {
            const RankedEntry item = from[k];
            for (std::size_t c = 0; c < n_children; ++c) {
                const auto number = entry[c][item.entry];
                *out[c] = {number, item.rank};
                out[c] += number != no_entry;
            }
        }
    };
    for (const List& list : lists_) {
        const RankedEntry* from = items_.get() + list.begin;
        const auto start = out;
        keep(from, list.n_stored);
        const auto middle = out;
        keep(from + list.n_stored, list.n_missing);
        for (std::size_t c = 0; c < n_children; ++c) {
            const FeatureOrder order{{start[c], middle[c]}, {middle[c], out[c]}};
            if (order.constant(dataset.features[list.feature].kind, children[c].size)) {
                out[c] = start[c];
                continue;
            }
            KeptOrders& orders = *children[c].orders;
            orders.lists_.push_back({list.feature, static_cast<std::uint32_t>(order.stored.size()),
                                     static_cast<std::uint32_t>(order.missing.size()),
                                     static_cast<std::size_t>(start[c] - orders.items_.get())});
        }
    }
    for (std::size_t c = 0; c < n_children; ++c) {
        KeptOrders& orders = *children[c].orders;
        orders.n_items_ = static_cast<std::size_t>(out[c] - orders.items_.get());
    }
}

}  // namespace ramify
