// The medoid of a node: the label set among its rows that is nearest to all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/label_sets.hpp"
#include "data/label_sums.hpp"
#include "data/targets.hpp"

namespace ramify {

/// Finds medoids by the squared distances of `targets.sets`, or Euclidean ones without these.
class Medoid {
  public:
    explicit Medoid(const Targets& targets);
    /// The labels of the set with the smallest sum of squared distances to the rows; among ties
    /// the most frequent, then the first. `sums` are the label sums of the rows.
    std::span<const std::int32_t> of(const NodeRows& rows, std::span<const LabelSum> sums);

  private:
    void add_distances();
    void add_euclidean(const NodeRows& rows, std::span<const LabelSum> sums);

    const Targets& targets_;
    NodeSetsBuilder builder_;
    NodeSets node_;
    std::vector<double> cost_;  // per set of the node
    std::vector<double> step_;  // per label, see add_euclidean
};

}  // namespace ramify
