// The entries of a node in the order of each feature.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "growing/sorting.hpp"

namespace ramify {

/// One feature in one node. Entries in neither list have the implied value: zero for sparse
/// features, the most frequent category for nominal ones (whose ranks are codes).
struct FeatureOrder {
    std::span<const RankedEntry> stored;   // by rank, then entry; or by entry
    std::span<const RankedEntry> missing;  // by entry
    std::uint32_t top = 0;                 // the least rank of those stored
    std::uint32_t bottom = 0;              // the largest

    FeatureOrder() = default;
    FeatureOrder(std::span<const RankedEntry> unsorted, std::span<const RankedEntry> gaps,
                 std::uint32_t least, std::uint32_t largest)
        : stored(unsorted), missing(gaps), top(least), bottom(largest) {}
    FeatureOrder(std::span<const RankedEntry> sorted, std::span<const RankedEntry> gaps)
        : stored(sorted), missing(gaps) {
        if (stored.empty()) return;
        top = stored.front().rank;
        bottom = stored.back().rank;
    }

    /// Whether all entries without a missing value have the same value. `learns`: a test of which
    /// values are missing is a test too.
    bool constant(FeatureKind kind, std::size_t n_entries, bool learns) const {
        if (learns && !missing.empty()) return missing.size() == n_entries;
        if (stored.empty()) return true;
        const bool others =
            kind != FeatureKind::dense && stored.size() + missing.size() < n_entries;
        return !others && top == bottom;
    }
};

/// Orders of all features of a node, sorted once at the root and passed on by stable partition:
/// one pass over the lists of the parent per child, no sorting below the root. Features that are
/// constant in a node are dropped.
class KeptOrders {
  public:
    KeptOrders() = default;
    /// The rules say whether the most frequent category is listed too, and what is constant.
    static KeptOrders of_root(const Dataset& dataset, const NodeRows& rows,
                              const SplitRules& rules, unsigned n_threads, StopSignal& signal);
    /// A child of the node. entry[e]: the number of parent entry e in the child, or no_entry.
    struct Child {
        std::span<const std::uint32_t> entry;
        std::size_t size;
        KeptOrders* orders;  // to be written
    };
    /// Writes the orders of the children; those of two children in one pass.
    void hand_down(const Dataset& dataset, std::span<const Child> children) const;
    /// The same with several threads, for large nodes.
    void hand_down_together(const Dataset& dataset, std::span<const Child> children,
                            unsigned n_threads, StopSignal& signal) const;

    std::size_t size() const { return lists_.size(); }
    std::uint32_t feature(std::size_t k) const { return lists_[k].feature; }
    FeatureOrder order(std::size_t k) const;
    /// The list of a given feature; it must be among those kept.
    FeatureOrder order_of(std::uint32_t feature) const;

    static constexpr std::uint32_t no_entry = 0xFFFFFFFFu;

  private:
    struct List {
        std::uint32_t feature;
        std::uint32_t n_stored;
        std::uint32_t n_missing;
        std::size_t begin;
    };
    template <std::size_t n_children>
    using Entries = std::array<const std::uint32_t*, n_children>;
    template <std::size_t n_children>
    using Ends = std::array<RankedEntry*, n_children>;

    template <std::size_t n_children>
    void hand_down_to(const Dataset& dataset, const Child* children) const;
    template <std::size_t n_children>
    void share_out(const Dataset& dataset, const Child* children, unsigned n_threads,
                   StopSignal& signal) const;
    template <std::size_t n_children>
    void divide(const List& list, const Entries<n_children>& entry, Ends<n_children>& out,
                std::array<std::uint32_t, n_children>& n_stored) const;
    void clear(std::size_t n_lists, std::size_t n_items, bool learns);
    bool add_list(const Dataset& dataset, std::uint32_t feature, std::size_t n_entries,
                  std::span<const RankedEntry> stored, std::span<const RankedEntry> missing);

    bool learns_ = false;  // see FeatureOrder::constant
    std::vector<List> lists_;
    std::unique_ptr<RankedEntry[]> items_;
    std::size_t n_items_ = 0;
};

/// Orders made on demand: faster if a node searches few of its features.
class SortedOrders {
  public:
    /// Random thresholds need no order, CLUS the entries of the most frequent category too.
    SortedOrders(const Dataset& dataset, const SplitRules& rules);
    /// Must be called for each node before order_of.
    void reset(const NodeRows& rows);
    FeatureOrder order_of(std::uint32_t feature);

  private:
    FeatureOrder gather_dense(std::uint32_t feature_index);
    FeatureOrder gather_sparse(const Feature& feature);
    FeatureOrder look_up_sparse(const Feature& feature);
    FeatureOrder gather_nominal(const Feature& feature);
    template <typename RankOf>
    FeatureOrder sort_by(std::size_t n_ranks, RankOf rank_of);
    template <typename RankOf>
    FeatureOrder list_by(RankOf rank_of);
    template <typename Rank>
    FeatureOrder list_all(const Rank* ranks);
    template <typename RankOf>
    FeatureOrder arrange(std::size_t n_ranks, RankOf rank_of) {
        return sorts_ ? sort_by(n_ranks, rank_of) : list_by(rank_of);
    }

    static constexpr std::uint32_t implied_rank = missing_rank - 1;

    const Dataset& dataset_;
    bool store_all_;
    bool sorts_;
    const CodeColumns& codes_;  // smaller than ranks; empty: not to be used
    const NodeRows* rows_ = nullptr;
    struct Place {
        std::uint32_t stamp = 0;  // of the node that wrote it; older places are invalid
        std::uint32_t entry = 0;
    };
    std::vector<Place> entry_of_row_;  // only filled for data with sparse features
    std::uint32_t stamp_ = 0;
    std::vector<RankedEntry> stored_;   // sized for the entries of the node
    std::vector<RankedEntry> missing_;  // likewise
    RankSorter sorter_;
};

}  // namespace ramify
