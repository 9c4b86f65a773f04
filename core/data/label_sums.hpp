// The labels of a leaf and their weights.
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

/// Adds up labels at a cost of the rows' labels: a bit per label tells which sums are in use.
class LabelSums {
  public:
    explicit LabelSums(const Targets& targets);
    /// The labels that occur, increasing; each sum is taken in row order.
    std::span<const LabelSum> of(const NodeRows& rows);

  private:
    const Targets& targets_;
    std::vector<double> totals_;         // per label, zero outside of()
    std::vector<std::uint64_t> in_use_;  // a bit per label, likewise
    std::vector<LabelSum> sums_;
};

}  // namespace ramify
