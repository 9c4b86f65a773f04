// A grown tree in a form that can be edited, and the rows that reach its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// One node with all its fields; see Tree.
struct EditedNode {
    std::int32_t feature = -1;
    double threshold = 0;
    double weight = 0;
    std::int64_t n_samples = 0;
    double impurity = 0;
    double gain = 0;
    std::vector<std::int32_t> child;
    std::vector<double> share;
    std::vector<std::int32_t> category_branch;
    std::vector<std::int32_t> value_label;
    std::vector<double> value;

    bool is_leaf() const { return feature < 0; }
    void make_leaf();
};

/// Nodes keep their numbers; nodes that cannot be reached are dropped when the tree is packed.
class EditedTree {
  public:
    explicit EditedTree(const Tree& tree);
    EditedNode& operator[](std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
    /// Replaces a node by `below`, a node of its subtree; the rest of the subtree is dropped.
    void raise(std::int32_t node, std::int32_t below);
    /// The tree in depth-first order, with values in leaves only.
    Tree packed() const;

  private:
    std::vector<EditedNode> nodes_;
};

/// Where the rows of an inner node go.
struct Fork {
    std::vector<std::int32_t> branch;  // per entry; -1: all branches
    std::vector<double>
        share;     // per branch: its part of the weight, without rows that are divided
    bool divides;  // whether rows with a missing value take all branches

    NodeRows rows_of(std::size_t which, const NodeRows& rows) const;
    /// The same without the rows that are divided.
    NodeRows known_rows_of(std::size_t which, const NodeRows& rows) const;
};

/// Applies the test of the node to every row.
Fork fork_rows(const Dataset& dataset, const EditedNode& node, const NodeRows& rows);

}  // namespace ramify
