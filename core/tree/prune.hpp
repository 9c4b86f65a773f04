// Pruning of grown trees.
#pragma once

#include "growing/options.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Turns inner nodes whose branches all end in leaves with the same prediction into leaves, from
/// the bottom up. `tree` must carry values in its inner nodes; the result has them in leaves only,
/// unless `inner_values`.
Tree merge_leaves(const Tree& tree, LeafMerging merging, bool inner_values = false);

/// Removes everything below the nodes marked as leaves, and, unless `inner_values`, the values of
/// inner nodes.
Tree cut_tree(const Tree& tree, const std::vector<char>& is_leaf, bool inner_values = false);

}  // namespace ramify
