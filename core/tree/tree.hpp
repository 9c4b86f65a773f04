// A grown tree as flat arrays: small, quick to walk, plain to save.
#pragma once

#include <cstdint>
#include <vector>

namespace ramify {

/// How many features and labels a tree refers to; -1 until somebody has counted them.
struct TreeExtent {
    std::int64_t n_features = -1;
    std::int64_t n_labels = -1;

    TreeExtent() = default;
    TreeExtent(const TreeExtent&) {}  // a copy of a tree may be edited
    TreeExtent& operator=(const TreeExtent&) {
        n_features = n_labels = -1;
        return *this;
    }
};

/// Node 0 is the root; a node's number is smaller than its children's (depth-first, first branch
/// first). Branch 0 of a numeric or subset test is "yes" (x > threshold, x in subset).
struct Tree {
    std::vector<std::int32_t> feature;  // per node; -1: a leaf
    std::vector<double> threshold;      // per node; numeric tests only, else 0
    std::vector<double> weight;         // per node: sum of the training weights that reached it
    std::vector<std::int64_t>
        n_samples;                 // per node: training rows that reached it, in part or whole
    std::vector<double> impurity;  // per node: mean impurity
    std::vector<double> gain;      // per node: score of its test, 0 in leaves

    std::vector<std::int64_t> child_indptr;  // per node + 1
    std::vector<std::int32_t> child;         // the branches' nodes, in branch order
    // Per branch: the part of a row with a missing value that takes it. Where such rows are
    // divided, that of the known weight; else 1 for one branch and 0 for the others.
    std::vector<double> share;

    std::vector<std::int64_t> category_indptr;  // per node + 1; empty ranges for numeric tests
    std::vector<std::int32_t> category_branch;  // nominal tests: branch of each code, or -1

    std::vector<std::int64_t> value_indptr;  // per node + 1; empty ranges in inner nodes
    std::vector<std::int32_t> value_label;   // leaves: labels with a positive share, increasing
    std::vector<double> value;               // their shares of the leaf's weight

    mutable TreeExtent extent;  // of the arrays above; not part of the tree

    std::size_t n_nodes() const { return feature.size(); }
};

}  // namespace ramify
