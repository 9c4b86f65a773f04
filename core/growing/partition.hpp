// Divides the rows of a node among its branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/orders.hpp"
#include "growing/split.hpp"

namespace ramify {

/// Divides one node after the other, reusing its arrays. A row whose value is missing takes the
/// branch of the split or, if it has none, every branch in part.
class Partition {
  public:
    /// `lists_entries`: whether above() and entries() are needed.
    Partition(const Dataset& dataset, bool lists_entries)
        : dataset_(dataset), lists_entries_(lists_entries) {}

    /// Finds the branch of every row. `order` is that of the feature of the split, if it is
    /// sparse. `rows` and `split` must stay valid until the next call.
    void assign(const NodeRows& rows, const Split& split, FeatureOrder order);
    std::size_t n_branches() const { return split_->share.size(); }
    /// Writes the rows of a branch.
    void take_rows(std::size_t branch, NodeRows& child);
    /// Per row of the last branch taken: its entry in the node.
    std::span<const std::uint32_t> above() const { return above_; }
    /// Per row of the node: its entry in the branch, or KeptOrders::no_entry.
    std::span<const std::uint32_t> entries(std::size_t branch) const { return entries_[branch]; }

  private:
    std::size_t n_here(std::int32_t branch) const;
    template <bool lists>
    std::uint32_t take(std::int32_t branch, NodeRows& child);

    const Dataset& dataset_;
    bool lists_entries_;
    const NodeRows* rows_ = nullptr;
    const Split* split_ = nullptr;
    std::vector<std::int32_t> branch_;  // per row; -1: all
    std::vector<std::uint32_t> above_;
    std::vector<std::vector<std::uint32_t>> entries_;  // per branch
};

}  // namespace ramify
