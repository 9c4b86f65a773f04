// Assembles a Tree node by node, in depth-first order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/label_sums.hpp"
#include "growing/split.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// The place of a node: branch `branch` of node `parent`; parent -1: the root.
struct Place {
    std::int32_t parent = -1;
    std::int32_t branch = 0;
};

/// Appends a node of one tree to another; child numbers are copied as they are.
void copy_node(const Tree& from, std::size_t node, Tree& to);
/// Ends the ranges of the last node, which completes a tree.
void close_tree(Tree& tree);

class TreeBuilder {
  public:
    /// Reserves memory for the values of leaves, whose arrays are by far the longest.
    void expect_values(std::size_t n);
    std::int32_t add_node(Place place, double weight, std::size_t n_samples);
    /// `divides`: whether rows with a missing value take all branches if the split has none for
    /// them. If not, they take the largest.
    void set_split(std::int32_t node, const Split& split, double factor, bool divides);
    void set_impurity(std::int32_t node, double impurity, double weight);
    /// Stores shares of the weight per label. Must be called before another node is added.
    void set_values(std::int32_t node, std::span<const LabelSum> sums, double weight);
    /// Stores values of some columns. Likewise.
    void set_values(std::int32_t node, std::span<const std::int32_t> columns,
                    std::span<const double> values);
    /// Stores a label set, each label with share 1. Likewise.
    void set_labels(std::int32_t node, std::span<const std::int32_t> labels);
    /// The node is a placeholder for the root of subtree `subtree`.
    void mark_deferred(std::int32_t node, std::size_t subtree);
    /// Puts the subtrees in place of their placeholders.
    Tree finish(std::span<TreeBuilder> subtrees) &&;

  private:
    struct Deferred {
        std::int32_t node;
        std::size_t subtree;
    };
    Tree tree_;
    std::vector<Deferred> deferred_;  // by increasing node
};

}  // namespace ramify
