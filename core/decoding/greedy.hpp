// The greedy search for label sets whose paths all end in leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/graph.hpp"

namespace ramify {

/// Takes one leaf with all its ancestors at a time, always the one that adds most to the value of
/// the set (Bi and Kwok, 2012).
///
/// When a label is chosen, the gains of the leaves below it lose its weight, and no others: over
/// all steps every pair of a leaf and an ancestor is visited once, where the paper's algorithm
/// visits all leaves at every step. Leaves lie in blocks that remember their best one, and only
/// blocks that have changed look for it again.
///
/// Where the number of leaves is open the search ends when nothing can make up for what the last
/// leaves cost. A bound on that: every label has one first parent, so whatever is added hangs, as
/// trees of first parents, below chosen labels, and a tree is at most worth
///     hope(i) = w_i + Σ max(0, hope(c)) over the labels c whose first parent is i.
class GreedyDecoder {
  public:
    explicit GreedyDecoder(const LeafGraph& graph);

    /// Sets `chosen` to 1 for the labels of the set and 0 for the others: k leaves for k >= 1,
    /// the best number of leaves for k = 0. Of equal gains the first leaf is taken, of equal
    /// values the smallest set.
    void solve(std::span<const double> weights, std::int32_t k, std::span<char> chosen);

  private:
    void start(std::span<const double> weights);
    void hope_upwards(std::span<const double> weights);
    std::size_t best_leaf();
    void take(std::size_t leaf, std::span<const double> weights, std::int32_t step);
    void add_below(std::size_t label, double change);

    const LeafGraph& graph_;
    std::vector<char> has_all_children_;  // whether it is the first parent of all its children
    std::vector<double> gain_;  // what a leaf and its unchosen ancestors would add; -inf if taken
    std::vector<double> block_best_;
    std::vector<char> block_changed_;
    std::vector<std::int32_t> step_of_;  // when a label was chosen; 0: not yet
    std::vector<double> hope_;           // of each label, and below_ it, as above
    std::vector<double> below_;          // by label, then the root
    std::vector<double> best_below_;
    double value_ = 0.0;  // of all labels chosen so far
    double left_ = 0.0;   // the most that can still be added
};

}  // namespace ramify
