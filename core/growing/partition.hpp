// The rows of a node go to its branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/orders.hpp"
#include "growing/split.hpp"

namespace ramify {

/// Divides one node after the other, with the same arrays. A row whose value is unknown goes down
/// every branch in part.
class Partition {
  public:
    explicit Partition(const Dataset& dataset) : dataset_(dataset) {}

    /// Finds the branch of every row. `order`: that of the split's feature, if it is sparse. Both
    /// arguments before it must last until the next node.
    void assign(const NodeRows& rows, const Split& split, FeatureOrder order);
    std::size_t n_branches() const { return split_->share.size(); }
    /// Writes the rows of a branch.
    void take_rows(std::size_t branch, NodeRows& child);
    /// Per row of the branch taken last: its number in the node.
    std::span<const std::uint32_t> above() const { return above_; }
    /// Per row of the node: its number in the branch, or KeptOrders::no_entry.
    std::span<const std::uint32_t> entries(std::size_t branch) const { return entries_[branch]; }

  private:
    const Dataset& dataset_;
    const NodeRows* rows_ = nullptr;
    const Split* split_ = nullptr;
    std::vector<std::int32_t> branch_;  // per row; -1: unknown
    std::vector<std::uint32_t> above_;
    std::vector<std::vector<std::uint32_t>> entries_;  // per branch
};

}  // namespace ramify
