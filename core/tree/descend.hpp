// The way of a row through a tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tree/tree.hpp"

namespace ramify {

/// The branch of a test whose value is missing.
constexpr std::int32_t missing_branch = -1;

/// The branch a row takes at an inner node, or `missing_branch`.
template <typename Rows>
std::int32_t branch_of(const Tree& tree, std::size_t node, const Rows& row) {
    const double value = row[tree.feature[node]];
    if (std::isnan(value)) return missing_branch;
    const auto begin = static_cast<std::size_t>(tree.category_indptr[node]);
    const auto end = static_cast<std::size_t>(tree.category_indptr[node + 1]);
    if (begin == end) return value > tree.threshold[node] ? 0 : 1;
    const auto n_categories = static_cast<double>(end - begin);
    if (!(value >= 0 && value < n_categories)) return missing_branch;
    return tree.category_branch[begin + static_cast<std::size_t>(value)];
}

inline std::size_t child_of(const Tree& tree, std::size_t node, std::int32_t branch) {
    return static_cast<std::size_t>(
        tree.child[static_cast<std::size_t>(tree.child_indptr[node] + branch)]);
}

/// The branch that all rows with a missing value take at an inner node, or -1 if they are divided.
inline std::int32_t branch_of_missing(const Tree& tree, std::size_t node) {
    const auto begin = tree.share.begin() + tree.child_indptr[node];
    const auto end = tree.share.begin() + tree.child_indptr[node + 1];
    const auto whole = std::find(begin, end, 1.0);
    return whole == end ? -1 : static_cast<std::int32_t>(whole - begin);
}

/// Follows tests from `node` to a leaf, or to a test that divides the row.
template <typename Rows>
std::size_t descend(const Tree& tree, std::size_t node, const Rows& row) {
    while (tree.feature[node] >= 0) {
        auto branch = branch_of(tree, node, row);
        if (branch == missing_branch) branch = branch_of_missing(tree, node);
        if (branch < 0) break;
        node = child_of(tree, node, branch);
    }
    return node;
}

}  // namespace ramify
