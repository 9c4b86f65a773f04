// Draws the features that are searched in a node.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace ramify {

/// Draws features without replacement, in time linear in the number drawn.
class FeatureSampler {
  public:
    explicit FeatureSampler(std::size_t n_features) : order_(n_features) {
        std::iota(order_.begin(), order_.end(), 0u);
    }
    /// The k-th feature of this node's random order; call with k = 0, 1, 2, ...
    std::uint32_t draw(std::size_t k, SplitMix& random) {
        const auto left = static_cast<std::uint32_t>(order_.size() - k);
        const auto other = k + random.below(left);
        std::swap(order_[k], order_[other]);
        swaps_.push_back({k, other});
        return order_[k];
    }
    /// Restores the initial order, so that the draws of the next node depend on its seed only.
    void undo() {
        for (; !swaps_.empty(); swaps_.pop_back()) {
            std::swap(order_[swaps_.back().first], order_[swaps_.back().second]);
        }
    }
    std::size_t size() const { return order_.size(); }

  private:
    std::vector<std::uint32_t> order_;
    std::vector<std::pair<std::size_t, std::size_t>> swaps_;
};

/// As CLUS does: draws until there are enough distinct features, and returns them in order.
inline std::vector<std::uint32_t> draw_like_clus(JavaRandom& java, std::size_t n_features,
                                                 std::size_t n_wanted) {
    std::vector<char> drawn(n_features, 0);
    for (std::size_t n = 0; n < n_wanted;) {
        const auto feature = java.next_int(static_cast<std::int32_t>(n_features));
        auto& mark = drawn[static_cast<std::size_t>(feature)];
        if (!mark) ++n;
        mark = 1;
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t f = 0; f < n_features; ++f) {
        if (drawn[f]) found.push_back(f);
    }
    return found;
}

}  // namespace ramify
