// Greedy search for label sets whose paths all end in leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/graph.hpp"

namespace ramify {

/// Repeatedly adds the leaf that, with all its ancestors, adds most to the value of the set (Bi
/// and Kwok, 2012).
///
/// When a label is chosen, its weight is subtracted from the gains of the leaves below it; no
/// other gain changes. Over all steps, every pair of a leaf and an ancestor is visited once,
/// whereas the paper's algorithm visits all leaves at every step. Leaves are grouped in blocks
/// that store their best gain, which is recomputed only for blocks that have changed.
///
/// If the number of leaves is not fixed, the search ends when no further leaves can make up for
/// the cost of the last ones. This is decided by an upper bound: every label has one first parent,
/// so whatever is added consists of trees of first parents below chosen labels, and the value of a
/// tree is at most
///     bound(i) = w_i + Σ max(0, bound(c)) over the labels c whose first parent is i.
class GreedyDecoder {
  public:
    explicit GreedyDecoder(const LeafGraph& graph);

    /// Sets `chosen` to 1 for the labels of the set and to 0 for all others. The set has k leaves
    /// if k >= 1, and the best number of leaves if k = 0. Ties between gains go to the first leaf,
    /// ties between values to the smallest set.
    void solve(std::span<const double> weights, std::int32_t k, std::span<char> chosen);

  private:
    void start(std::span<const double> weights);
    void compute_bounds(std::span<const double> weights);
    std::size_t best_leaf();
    void take(std::size_t leaf, std::span<const double> weights, std::int32_t step);
    void add_below(std::size_t label, double change);

    const LeafGraph& graph_;
    std::vector<char> has_all_children_;  // the label is the first parent of all its children
    std::vector<double> gain_;  // of a leaf and its unchosen ancestors; -infinity if chosen
    std::vector<double> block_best_;
    std::vector<char> block_changed_;
    std::vector<std::int32_t> step_of_;  // the step in which a label was chosen; 0: not yet
    std::vector<double> bound_;          // by label
    std::vector<double> below_;          // by label, then the root: sum of positive bounds below
    std::vector<double> best_below_;     // the same: largest bound of a child
    double value_ = 0.0;                 // of the labels chosen so far
    double max_gain_ = 0.0;              // upper bound on the value that can still be added
};

}  // namespace ramify
