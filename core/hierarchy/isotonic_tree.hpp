// Isotonic regression on a forest: pool adjacent violators, from the leaves up.
#pragma once

#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// Finds x with x[label] <= x[parent] that minimises sum of weight * (x - score)^2, exactly, in
/// O(L log L) for L labels. Blocks of labels with one common value grow from single labels; a
/// block keeps the blocks right below it in a heap, the largest value on top. Bottom-up, a
/// label's block swallows the top of its heap while that is larger than its own mean.
class IsotonicTree {
  public:
    /// Every label has one parent at most, with a smaller number; weights are positive.
    IsotonicTree(SparseRowsView parents, std::span<const double> weight);

    void solve(std::span<double> row);

  private:
    void pool(std::int32_t label);
    std::int32_t meld(std::int32_t a, std::int32_t b);
    std::int32_t without_top(std::int32_t top);

    std::vector<std::int32_t> parent_;
    std::span<const double> weight_;
    // Of the block whose topmost label this is: mean, weight, and the heap of the blocks below.
    std::vector<double> value_;
    std::vector<double> mass_;
    std::vector<std::int32_t> below_;
    // Pairing heap: first child and next sibling of a block inside the heap that it lies in.
    std::vector<std::int32_t> first_;
    std::vector<std::int32_t> next_;
    std::vector<char> swallowed_;
};

}  // namespace ramify
