#include "growing/orders.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ramify {

// ---- SortedOrders --------------------------------------------------------------------------

namespace {

const CodeColumns no_codes;

}  // namespace

SortedOrders::SortedOrders(const Dataset& dataset, const SplitRules& rules)
    : dataset_(dataset),
      store_all_(rules.clus),
      sorts_(!rules.random_thresholds),
      codes_(sorts_ || dataset.any_missing ? no_codes : dataset.codes->of(dataset)) {
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
            return gather_dense(feature_index);
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
        sorter_.sort_items(stored);
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

/// As sort_by(), with entries in their own order.
template <typename RankOf>
FeatureOrder SortedOrders::list_by(RankOf rank_of) {
    const auto n = static_cast<std::uint32_t>(rows_->size());
    std::size_t n_stored = 0;
    std::size_t n_missing = 0;
    std::uint32_t top = missing_rank;
    std::uint32_t bottom = 0;
    for (std::uint32_t e = 0; e < n; ++e) {
        const auto rank = rank_of(e);
        const bool kept = rank < implied_rank;
        stored_[n_stored] = {e, rank};
        missing_[n_missing] = {e, rank};
        n_stored += kept;
        n_missing += rank == missing_rank;
        top = std::min(top, rank);
        bottom = std::max(bottom, kept ? rank : 0);
    }
    return {{stored_.data(), n_stored}, {missing_.data(), n_missing}, top, bottom};
}

/// The same where no value is missing or implied.
template <typename Rank>
FeatureOrder SortedOrders::list_all(const Rank* ranks) {
    const auto n = static_cast<std::uint32_t>(rows_->size());
    const std::uint32_t* row = rows_->row.data();
    RankedEntry* to = stored_.data();
    std::uint32_t top = missing_rank;
    std::uint32_t bottom = 0;
    for (std::uint32_t e = 0; e < n; ++e) {
        const std::uint32_t rank = ranks[row[e]];
        to[e] = {e, rank};
        top = std::min(top, rank);
        bottom = std::max(bottom, rank);
    }
    return {{to, n}, {}, top, bottom};
}

FeatureOrder SortedOrders::gather_dense(std::uint32_t feature_index) {
    const Feature& feature = dataset_.features[feature_index];
    const std::uint32_t* ranks = feature.ranks.data();
    const std::uint32_t* row = rows_->row.data();
    if (!sorts_ && !dataset_.any_missing) {
        return codes_.empty() ? list_all(ranks) : list_all(codes_.column(feature_index));
    }
    return arrange(feature.values.size(), [&](std::uint32_t e) { return ranks[row[e]]; });
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
        return arrange(feature.values.size(), [&](std::uint32_t e) {
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
    return arrange(feature.values.size(), [&](std::uint32_t e) {
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

KeptOrders KeptOrders::of_root(const Dataset& dataset, const NodeRows& rows,
                               const SplitRules& rules, unsigned n_threads, StopSignal& signal) {
    const std::size_t n_features = dataset.features.size();
    // A place of its own for each feature, as large as it may be: no copies, and no thread waits.
    // Memory of places that stay empty is never written.
    std::vector<List> lists(n_features, List{});
    KeptOrders orders;
    orders.learns_ = rules.missing != Missing::divide;
    for (std::size_t f = 0; f < n_features; ++f) {
        const Feature& feature = dataset.features[f];
        const bool sparse = feature.kind == FeatureKind::sparse;
        const auto n_cells = feature.stored.size() + feature.missing_rows.size();
        lists[f].begin = orders.n_items_;
        orders.n_items_ += sparse ? std::min(rows.size(), n_cells) : rows.size();
    }
    orders.items_ = std::make_unique_for_overwrite<RankedEntry[]>(orders.n_items_ + 1);
    std::vector<std::unique_ptr<SortedOrders>> sorters(std::max(1U, n_threads));
    parallel_for(n_threads, n_features, signal, [&](unsigned thread, std::size_t f) {
        signal.check();
        auto& sorter = sorters[thread];
        if (sorter == nullptr) {
            sorter = std::make_unique<SortedOrders>(dataset, rules);
            sorter->reset(rows);
        }
        const auto feature = static_cast<std::uint32_t>(f);
        const FeatureOrder order = sorter->order_of(feature);
        if (order.constant(dataset.features[f].kind, rows.size(), orders.learns_)) return;
        lists[f] = {feature, static_cast<std::uint32_t>(order.stored.size()),
                    static_cast<std::uint32_t>(order.missing.size()), lists[f].begin};
        auto* end = std::ranges::copy(order.stored, orders.items_.get() + lists[f].begin).out;
        std::ranges::copy(order.missing, end);
    });
    for (const List& list : lists) {
        if (list.n_stored + list.n_missing > 0) orders.lists_.push_back(list);
    }
    return orders;
}

void KeptOrders::hand_down(const Dataset& dataset, std::span<const Child> children) const {
    if (children.size() == 2) {
        hand_down_to<2>(dataset, children.data());
        return;
    }
    for (const Child& child : children) hand_down_to<1>(dataset, &child);
}

void KeptOrders::hand_down_together(const Dataset& dataset, std::span<const Child> children,
                                    unsigned n_threads, StopSignal& signal) const {
    if (children.size() == 2) {
        share_out<2>(dataset, children.data(), n_threads, signal);
        return;
    }
    for (const Child& child : children) share_out<1>(dataset, &child, n_threads, signal);
}

/// Writes the entries of a list that belong to each child. `out` moves on behind them; n_stored:
/// how many of them are not missing.
template <std::size_t n_children>
void KeptOrders::divide(const List& list, const Entries<n_children>& entry, Ends<n_children>& out,
                        std::array<std::uint32_t, n_children>& n_stored) const {
    const auto keep = [&](const RankedEntry* from, std::uint32_t n) {
        for (std::uint32_t k = 0; k < n; ++k) {
            const RankedEntry item = from[k];
            for (std::size_t c = 0; c < n_children; ++c) {
                // Branch-free: the item is written, and stays if it belongs to the child.
                const auto number = entry[c][item.entry];
                *out[c] = {number, item.rank};
                out[c] += number != no_entry;
            }
        }
    };
    const RankedEntry* from = items_.get() + list.begin;
    const auto start = out;
    keep(from, list.n_stored);
    for (std::size_t c = 0; c < n_children; ++c) {
        n_stored[c] = static_cast<std::uint32_t>(out[c] - start[c]);
    }
    keep(from + list.n_stored, list.n_missing);
}

template <std::size_t n_children>
void KeptOrders::hand_down_to(const Dataset& dataset, const Child* children) const {
    Ends<n_children> out;
    Entries<n_children> entry;
    for (std::size_t c = 0; c < n_children; ++c) {
        // One item more: an item is written before it is known whether it stays.
        const std::size_t capacity = std::min(n_items_, children[c].size * lists_.size()) + 1;
        children[c].orders->clear(lists_.size(), capacity, learns_);
        out[c] = children[c].orders->items_.get();
        entry[c] = children[c].entry.data();
    }
    for (const List& list : lists_) {
        const auto start = out;
        std::array<std::uint32_t, n_children> n_stored;
        divide<n_children>(list, entry, out, n_stored);
        for (std::size_t c = 0; c < n_children; ++c) {
            const bool kept = children[c].orders->add_list(dataset, list.feature, children[c].size,
                                                           {start[c], n_stored[c]},
                                                           {start[c] + n_stored[c], out[c]});
            if (!kept) out[c] = start[c];
        }
    }
    for (std::size_t c = 0; c < n_children; ++c) {
        KeptOrders& orders = *children[c].orders;
        orders.n_items_ = static_cast<std::size_t>(out[c] - orders.items_.get());
    }
}

/// As hand_down_to, with a place of its own for each list: no thread waits for another.
template <std::size_t n_children>
void KeptOrders::share_out(const Dataset& dataset, const Child* children, unsigned n_threads,
                           StopSignal& signal) const {
    struct Written {
        Ends<n_children> begin;
        Ends<n_children> end;
        std::array<std::uint32_t, n_children> n_stored;
    };
    std::vector<Written> written(lists_.size());
    Entries<n_children> entry;
    for (std::size_t c = 0; c < n_children; ++c) {
        std::vector<std::size_t> place(lists_.size() + 1, 0);
        for (std::size_t k = 0; k < lists_.size(); ++k) {
            const std::size_t n_items = std::size_t{lists_[k].n_stored} + lists_[k].n_missing;
            place[k + 1] = place[k] + std::min(n_items, children[c].size) + 1;
        }
        KeptOrders& orders = *children[c].orders;
        orders.clear(lists_.size(), place.back(), learns_);
        orders.n_items_ = place.back();
        entry[c] = children[c].entry.data();
        for (std::size_t k = 0; k < lists_.size(); ++k) {
            written[k].begin[c] = orders.items_.get() + place[k];
        }
    }
    parallel_for(n_threads, lists_.size(), signal, [&](unsigned, std::size_t k) {
        signal.check();
        written[k].end = written[k].begin;
        divide<n_children>(lists_[k], entry, written[k].end, written[k].n_stored);
    });
    for (std::size_t k = 0; k < lists_.size(); ++k) {
        const Written& list = written[k];
        for (std::size_t c = 0; c < n_children; ++c) {
            const auto* middle = list.begin[c] + list.n_stored[c];
            children[c].orders->add_list(dataset, lists_[k].feature, children[c].size,
                                         {list.begin[c], middle}, {middle, list.end[c]});
        }
    }
}

void KeptOrders::clear(std::size_t n_lists, std::size_t n_items, bool learns) {
    *this = {};
    learns_ = learns;
    lists_.reserve(n_lists);
    items_ = std::make_unique_for_overwrite<RankedEntry[]>(n_items);
}

/// Lists a feature, unless it is constant; returns whether it did.
bool KeptOrders::add_list(const Dataset& dataset, std::uint32_t feature, std::size_t n_entries,
                          std::span<const RankedEntry> stored,
                          std::span<const RankedEntry> missing) {
    const FeatureOrder order{stored, missing};
    if (order.constant(dataset.features[feature].kind, n_entries, learns_)) return false;
    lists_.push_back({feature, static_cast<std::uint32_t>(stored.size()),
                      static_cast<std::uint32_t>(missing.size()),
                      static_cast<std::size_t>(stored.data() - items_.get())});
    return true;
}

}  // namespace ramify
