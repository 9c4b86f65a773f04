// The trees of a boosted model as flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ramify {

/// One tree. Node 0 is the root; nodes are in depth-first order, the branch "yes" first.
struct BoostedTree {
    std::vector<std::int32_t> feature;      // per node; -1: a leaf
    std::vector<double> threshold;          // numeric tests: x > threshold
    std::vector<std::uint8_t> missing_yes;  // whether missing values take the branch "yes"
    std::vector<std::int32_t> yes;          // nodes; in a leaf, -1
    std::vector<std::int32_t> no;
    std::vector<double> gain;                   // reduction of the loss on the sketch; 0 in leaves
    std::vector<double> weight;                 // weight of the sampled rows that reached the node
    std::vector<std::int64_t> category_indptr;  // per node + 1; empty ranges for numeric tests
    std::vector<std::uint8_t> category_yes;  // nominal tests: whether each code is in the subset
    std::vector<std::int32_t> leaf;          // per node: its number among the leaves, or -1
    std::vector<float> value;                // per leaf and output: added to the margin

    std::size_t n_nodes() const { return feature.size(); }
};

}  // namespace ramify
