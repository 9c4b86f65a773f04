// Sums of label weights over the rows of a node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/targets.hpp"

namespace ramify {

/// A label of a node with the weight of the rows that have it.
struct LabelSum {
    std::int32_t label;
    double sum;
    double label_weight;
};

/// Adds up labels in time linear in the labels of the rows: a bit per label tells which sums are
/// in use.
class LabelSums {
  public:
    explicit LabelSums(const Targets& targets);
    /// The labels that occur, in increasing order; each sum is in row order.
    std::span<const LabelSum> of(const NodeRows& rows);

  private:
    const Targets& targets_;
    std::vector<double> totals_;         // per label, zero outside of()
    std::vector<std::uint64_t> in_use_;  // a bit per label, likewise
    std::vector<LabelSum> sums_;
};

}  // namespace ramify
