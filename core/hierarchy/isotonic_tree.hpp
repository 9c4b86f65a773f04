// Isotonic regression on a forest: pool adjacent violators from the leaves up.
#pragma once

#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// Finds x with x[label] <= x[parent] that minimises the sum of weight * (x - score)^2, exactly,
/// in O(L log L) for L labels. Labels with a common value form a block; initially every label is a
/// block. A block keeps the blocks directly below it in a heap with the largest value on top. From
/// the leaves up, the top of a block's heap is merged into the block while it is larger than the
/// block's mean.
class IsotonicTree {
  public:
    /// Every label has at most one parent, with a smaller number; weights are positive.
    IsotonicTree(SparseRowsView parents, std::span<const double> weight);

    void solve(std::span<double> row);

  private:
    void pool(std::int32_t label);
    std::int32_t merge_heaps(std::int32_t a, std::int32_t b);
    std::int32_t remove_top(std::int32_t top);

    std::vector<std::int32_t> parent_;
    std::span<const double> weight_;
    // By topmost label of a block: its mean, its weight, and the heap of the blocks below.
    std::vector<double> value_;
    std::vector<double> mass_;
    std::vector<std::int32_t> below_;
    // Pairing heap: first child and next sibling of a block within its heap.
    std::vector<std::int32_t> first_;
    std::vector<std::int32_t> next_;
    std::vector<char> merged_;  // whether a label is in the block of its parent
};

}  // namespace ramify
