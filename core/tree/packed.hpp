// A compact form of a tree for pickles and files: what can be computed exactly is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tree/tree.hpp"

namespace ramify {

/// Nodes are in depth-first order, so that children follow from the numbers of branches. "Per
/// test" means per inner node. The labels of a node are stored as gaps, its shares as numbers of
/// the node's distinct shares, and those as whole counts wherever count / weight is the share.
struct PackedTree {
    std::vector<std::int32_t> feature;    // per node; -1: a leaf
    std::vector<std::int64_t> n_samples;  // per node
    std::vector<double> weight;           // per node
    std::vector<double> impurity;         // per node
    std::vector<double> threshold;        // per test
    std::vector<double> gain;             // per test

    std::vector<std::int64_t> n_branches;  // per test; empty: two each
    /// Empty: of two branches the first has its part of both weights, the other the rest; of more
    /// each has its part of the sum. As many as tests: that of the first branch. Else per branch.
    std::vector<double> share;
    std::vector<std::int64_t> n_categories;  // per test; empty: no test is nominal
    std::vector<std::int32_t> category_branch;

    std::vector<std::int64_t> n_values;    // per node
    std::vector<std::uint8_t> label_gap;   // per value: labels left out since the one before
    std::vector<std::int64_t> far_gap;     // the gaps that do not fit there, where far_mark stands
    std::vector<std::int64_t> n_distinct;  // per node with values: its distinct shares
    std::vector<std::uint32_t> value_number;  // per value: which of them
    std::vector<std::int64_t> numerator;      // per distinct share: times weight; 0: in odd_value
    std::vector<double> odd_value;            // shares that no whole count gives

    static constexpr std::uint8_t far_mark = 255;
};

/// Returns nothing if unpacking would not give the same tree bit for bit.
std::optional<PackedTree> pack(const Tree& tree);

/// Throws std::invalid_argument if the parts are inconsistent. The result may still not be a valid
/// tree: features, branches and numbers of categories are not checked.
Tree unpack(const PackedTree& packed);

}  // namespace ramify
