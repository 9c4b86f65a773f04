// The ways of many rows through a tree, several at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/descend.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// The numeric tests of a tree with what a row needs of each side by side: 16 bytes a node instead
/// of places in six arrays. Takes a pass over the tree, which pays if there are many rows.
class Walk {
  public:
    Walk() = default;
    explicit Walk(const Tree& tree);

    /// As descend().
    template <typename Rows>
    std::size_t descend(const Tree& tree, std::size_t node, const Rows& row) const {
        while (steps_[node].feature >= 0) {
            const Step& step = steps_[node];
            const auto to = next(node, step, row[step.feature]);
            if (to == stopped) return node;
            node = to;
        }
        return steps_[node].feature == leaf ? node : ramify::descend(tree, node, row);
    }

    /// Writes for each row from `begin` where descend() would end from the root. Rows go together,
    /// so that no row waits for the memory of another.
    template <typename Rows>
    void descend_together(const Tree& tree, Rows& rows, std::size_t begin,
                          std::span<std::uint32_t> ends) const;

  private:
    static constexpr std::int32_t leaf = -1;
    static constexpr std::int32_t odd = -2;  // a nominal test, or branches in another order
    static constexpr std::size_t stopped = static_cast<std::size_t>(-1);
    static constexpr std::size_t n_lanes = 16;

    struct Step {
        double threshold;
        std::int32_t feature;
        std::uint32_t second;  // the second branch; the first is the next node
    };

    std::size_t next(std::size_t node, const Step& step, double value) const {
        if (std::isnan(value)) [[unlikely]] {
            const auto branch = missing_[node];
            if (branch < 0) return stopped;
            return branch == 0 ? node + 1 : step.second;
        }
        // Without a branch, which nothing could predict.
        const std::size_t second = step.second;
        return second ^ ((second ^ (node + 1)) & -std::size_t{value > step.threshold});
    }

    std::vector<Step> steps_;
    std::vector<std::int8_t> missing_;  // the branch of missing values; -1: they are divided
};

template <typename Rows>
void Walk::descend_together(const Tree& tree, Rows& rows, std::size_t begin,
                            std::span<std::uint32_t> ends) const {
    for (std::size_t first = 0; first < ends.size(); first += n_lanes) {
        const std::size_t n = std::min(n_lanes, ends.size() - first);
        std::array<std::uint32_t, n_lanes> node{};
        std::array<std::uint32_t, n_lanes> lane;  // those that go on
        std::size_t n_going = n;
        for (std::uint32_t k = 0; k < n; ++k) lane[k] = k;
        while (n_going > 0) {
            std::size_t kept = 0;
            for (std::size_t k = 0; k < n_going; ++k) {
                const auto l = lane[k];
                const Step& step = steps_[node[l]];
                if (step.feature < 0) continue;
                const double value =
                    rows.cell(begin + first + l, static_cast<std::size_t>(step.feature));
                const auto to = next(node[l], step, value);
                if (to == stopped) continue;
                node[l] = static_cast<std::uint32_t>(to);
                lane[kept++] = l;
            }
            n_going = kept;
        }
        for (std::size_t k = 0; k < n; ++k) {
            if (steps_[node[k]].feature == odd) {
                rows.select(begin + first + k);
                node[k] = static_cast<std::uint32_t>(ramify::descend(tree, node[k], rows));
            }
            ends[first + k] = node[k];
        }
    }
}

}  // namespace ramify
