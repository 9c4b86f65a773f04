// Exact decoding on trees by dynamic programming: the best label set whose paths all end in
// leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/graph.hpp"
#include "decoding/weights.hpp"

namespace ramify {

/// Finds the best sets with any number of leaves in O(labels), several rows at a time. The worth
/// of a label is its weight plus the worths of its children with positive worth, or, if there are
/// none, the worth of its best child.
class BestTreeSets {
  public:
    explicit BestTreeSets(const LeafGraph& tree);

    /// Computes the worth of every label in up to `abreast` rows. The weights of one label in all
    /// rows are contiguous.
    void evaluate(std::span<const double> weights);

    /// Sets `chosen` to 1 for the labels of the best set of an evaluated row, and to 0 for all
    /// others. Ties go to the smaller set and to the first child.
    void choose(std::size_t row, std::span<char> chosen);

  private:
    const LeafGraph& tree_;
    // By label, with the root last; the values of all rows are contiguous.
    std::vector<double> positive_;      // sum of the positive worths of the children
    std::vector<double> best_;          // largest worth of a child
    std::vector<double> initial_best_;  // 0 for leaves, -infinity for other labels
    std::vector<double> worth_;
    std::vector<std::int32_t> pending_;  // chosen labels whose children have not been visited
};

/// Finds the best set with k leaves: a knapsack from the leaves up, in O(labels + leaves * k).
class TreeKnapsack {
  public:
    explicit TreeKnapsack(const LeafGraph& tree);

    /// Sets `chosen` to 1 for the labels of the best set with k leaves, and to 0 for all others;
    /// 1 <= k <= n_leaves().
    void solve(std::span<const double> weights, std::int32_t k, std::span<char> chosen);

  private:
    void merge(std::size_t label, double weight, std::int32_t k);
    void assign_shares(std::int32_t k, std::span<char> chosen);

    const LeafGraph& tree_;
    // By label, with the root last: the best values with 0, 1, 2, ... leaves below the label among
    // the children merged so far, without its own weight.
    std::vector<std::vector<double>> values_;
    // By label and number of leaves of its parent: how many of these are below this label.
    std::vector<std::vector<std::int32_t>> share_;
    std::vector<double> merged_;
    std::vector<std::int32_t> quota_;
};

}  // namespace ramify
