// The best label set of a tree whose paths all end in leaves, by dynamic programming.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/graph.hpp"
#include "decoding/weights.hpp"

namespace ramify {

/// The best sets with any number of leaves, in O(labels), some rows abreast. A label is worth its
/// weight and that of its children of positive worth, or, if it has none, of its best child.
class BestTreeSets {
  public:
    explicit BestTreeSets(const LeafGraph& tree);

    /// Values all labels of all rows; weights are label by label, the rows' side by side.
    void value(std::span<const double> weights);

    /// Sets `chosen` to 1 for the labels of the best set of one row that was valued. Of equal
    /// values the smaller set is taken, and the first child.
    void choose(std::size_t row, std::span<char> chosen);

  private:
    const LeafGraph& tree_;
    // By label, then the root, the numbers of all rows side by side.
    std::vector<double> positive_;    // the sum of the children's positive worths
    std::vector<double> best_;        // the largest worth of a child
    std::vector<double> best_fresh_;  // 0 for a leaf, which has none; minus infinity
    std::vector<double> worth_;
    std::vector<std::int32_t> open_;  // chosen labels whose children are to be looked at
};

/// The best set with k leaves: a knapsack up the tree, in O(labels + leaves * k).
class TreeKnapsack {
  public:
    explicit TreeKnapsack(const LeafGraph& tree);

    /// Sets `chosen` to 1 for the labels of the best set with k leaves, 1 <= k <= n_leaves().
    void solve(std::span<const double> weights, std::int32_t k, std::span<char> chosen);

  private:
    void merge(std::size_t label, double weight, std::int32_t k);
    void hand_down(std::int32_t k, std::span<char> chosen);

    const LeafGraph& tree_;
    // By label, then the root: the best values with 0, 1, 2, ... leaves below it so far, without
    // its own weight. Empty before the first child.
    std::vector<std::vector<double>> values_;
    // By label: of so many leaves that its parent has, how many are this label's.
    std::vector<std::vector<std::int32_t>> share_;
    std::vector<double> merged_;
    std::vector<std::int32_t> quota_;
};

}  // namespace ramify
