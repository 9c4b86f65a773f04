// Pruning of grown trees.
#pragma once

#include "data/target_table.hpp"
#include "growing/options.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Turns inner nodes whose branches all end in leaves with the same prediction into leaves, from
/// the bottom up. `tree` must carry values in its inner nodes; the result has them in leaves only,
/// unless `inner_values`. LeafMerging::none merges no leaves, LeafMerging::same_classes requires
/// the table of the targets.
Tree merge_leaves(const Tree& tree, LeafMerging merging, bool inner_values = false,
                  const TargetTable* table = nullptr);

/// Gives nodes without a value of a target those of the node above. `tree` must carry values in
/// its inner nodes, and keeps them.
Tree inherit_values(const Tree& tree, const TargetTable& table);

/// Removes everything below the nodes marked as leaves, and, unless `inner_values`, the values of
/// inner nodes.
Tree cut_tree(const Tree& tree, const std::vector<char>& is_leaf, bool inner_values = false);

}  // namespace ramify
