#include "hierarchy/isotonic_tree.hpp"

#include <algorithm>
#include <utility>

namespace ramify {

namespace {

constexpr std::int32_t no_label = -1;

}  // namespace

IsotonicTree::IsotonicTree(SparseRowsView parents, std::span<const double> weight)
    : parent_(parents.n_rows(), no_label),
      weight_(weight),
      value_(parents.n_rows()),
      mass_(parents.n_rows()),
      below_(parents.n_rows()),
      first_(parents.n_rows()),
      next_(parents.n_rows()),
      merged_(parents.n_rows()) {
    for (std::size_t label = 0; label < parent_.size(); ++label) {
        const auto above = parents.row(label);
        if (!above.empty()) parent_[label] = above.front();
    }
}

void IsotonicTree::solve(std::span<double> row) {
    std::copy(row.begin(), row.end(), value_.begin());
    std::copy(weight_.begin(), weight_.end(), mass_.begin());
    std::fill(below_.begin(), below_.end(), no_label);
    std::fill(first_.begin(), first_.end(), no_label);
    std::fill(next_.begin(), next_.end(), no_label);
    std::fill(merged_.begin(), merged_.end(), char{0});
    for (auto label = static_cast<std::int32_t>(row.size()); label-- > 0;) {
        pool(label);
        const std::int32_t parent = parent_[label];
        if (parent != no_label) below_[parent] = merge_heaps(below_[parent], label);
    }
    for (std::size_t label = 0; label < row.size(); ++label) {
        row[label] = merged_[label] ? row[parent_[label]] : value_[label];
    }
}

/// Merges the blocks directly below the block of `label` into it while they have a larger value.
void IsotonicTree::pool(std::int32_t label) {
    std::int32_t top = below_[label];
    while (top != no_label && value_[top] > value_[label]) {
        const double mass = mass_[label] + mass_[top];
        const double mean = value_[label] + (value_[top] - value_[label]) * (mass_[top] / mass);
        // Rounding must not move the mean outside the two values that it lies between.
        value_[label] = std::clamp(mean, value_[label], value_[top]);
        mass_[label] = mass;
        merged_[top] = 1;
        top = merge_heaps(remove_top(top), below_[top]);
    }
    below_[label] = top;
}

/// Merges two heaps; the larger value becomes the top.
std::int32_t IsotonicTree::merge_heaps(std::int32_t a, std::int32_t b) {
    if (a == no_label) return b;
    if (b == no_label) return a;
    if (value_[a] < value_[b]) std::swap(a, b);
    next_[b] = first_[a];
    first_[a] = b;
    return a;
}

/// Removes the top of a heap: its children are merged in pairs, and then the pairs are merged.
std::int32_t IsotonicTree::remove_top(std::int32_t top) {
    std::int32_t pairs = no_label;
    for (std::int32_t child = first_[top]; child != no_label;) {
        const std::int32_t second = next_[child];
        const std::int32_t rest = second == no_label ? no_label : next_[second];
        next_[child] = no_label;
        if (second != no_label) next_[second] = no_label;
        const std::int32_t pair = merge_heaps(child, second);
        next_[pair] = pairs;
        pairs = pair;
        child = rest;
    }
    first_[top] = no_label;
    std::int32_t heap = no_label;
    while (pairs != no_label) {
        const std::int32_t rest = next_[pairs];
        next_[pairs] = no_label;
        heap = merge_heaps(heap, pairs);
        pairs = rest;
    }
    return heap;
}

}  // namespace ramify
