// The vote of a tree on a row, for any place that votes are added to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "tree/descend.hpp"
#include "tree/predict.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Adds votes to a row of a dense matrix.
struct DenseVotes {
    double* scores;

    void add(std::int32_t label, double share) { scores[label] += share; }
};

/// Adds leaf / divisor to out.
template <typename Votes>
void add_divided(const Tree& tree, std::size_t node, double divisor, Votes& out) {
    const auto end = static_cast<std::size_t>(tree.value_indptr[node + 1]);
    for (auto k = static_cast<std::size_t>(tree.value_indptr[node]); k < end; ++k) {
        out.add(tree.value_label[k], tree.value[k] / divisor);
    }
}

/// Adds factor * leaf to out.
template <typename Votes>
void add_leaf(const Tree& tree, std::size_t node, double factor, Votes& out) {
    const auto end = static_cast<std::size_t>(tree.value_indptr[node + 1]);
    for (auto k = static_cast<std::size_t>(tree.value_indptr[node]); k < end; ++k) {
        out.add(tree.value_label[k], factor * tree.value[k]);
    }
}

/// A branch that a row takes in part.
struct Part {
    std::size_t node;
    double share;
};

/// `way(node, row)` is descend() or what does the same.
template <typename Rows, typename Way, typename Votes>
void mix_by_leaf(const Tree& tree, const Rows& row, const Way& way, double divisor,
                 std::vector<Part>& stack, Votes& out) {
    stack.assign(1, {0, 1.0});
    while (!stack.empty()) {
        const Part part = stack.back();
        stack.pop_back();
        const auto node = way(part.node, row);
        if (tree.feature[node] < 0) {
            add_leaf(tree, node, part.share / divisor, out);
            continue;
        }
        const auto begin = static_cast<std::size_t>(tree.child_indptr[node]);
        // Last branch first onto the stack: leaves are added in the order of the tree.
        for (auto k = static_cast<std::size_t>(tree.child_indptr[node + 1]); k-- > begin;) {
            stack.push_back({static_cast<std::size_t>(tree.child[k]), part.share * tree.share[k]});
        }
    }
}

/// A test whose branches are being combined: those before `next` are in its sum.
struct OpenTest {
    std::size_t node;
    std::size_t next;
};

/// Combines the branches of tests whose value is missing, bottom up. The sums of all open tests
/// are kept, so a deep tree is combined for a few labels at a time.
template <typename Rows>
class BranchMixer {
  public:
    BranchMixer(const Tree& tree, const Rows& row, StopSignal& signal)
        : tree_(tree), row_(row), signal_(signal) {}

    template <typename Votes>
    void add(double divisor, std::size_t n_labels, Votes& out) {
        constexpr std::size_t max_cells = 1 << 22;
        walk([] {}, [](std::size_t) {}, [](double) {});
        const std::size_t width = std::max<std::size_t>(max_cells / (most_open_ + 1), 1);
        for (std::size_t begin = 0; begin < n_labels; begin += width) {
            add_range(begin, std::min(begin + width, n_labels), divisor, out);
        }
    }

  private:
    /// For labels from `begin` to `end`.
    template <typename Votes>
    void add_range(std::size_t begin, std::size_t end, double divisor, Votes& out) {
        const std::size_t n = end - begin;
        sums_.resize((most_open_ + 1) * n);
        done_.resize(n);
        walk([&] { std::fill_n(sum(n), n, 0.0); },
             [&](std::size_t leaf) { copy_leaf(leaf, begin, end); },
             [&](double share) {
                 double* const total = sum(n);
                 for (std::size_t c = 0; c < n; ++c) total[c] += share * done_[c];
                 if (is_last_branch()) std::copy_n(total, n, done_.begin());
             });
        for (std::size_t c = 0; c < n; ++c) {
            out.add(static_cast<std::int32_t>(begin + c), done_[c] / divisor);
        }
    }

    /// Calls `start` at a test with a missing value, `finish` at a leaf, and `combine` with the
    /// share of a branch when the branch is done.
    template <typename Start, typename Finish, typename Combine>
    void walk(Start start, Finish finish, Combine combine) {
        open_.clear();
        auto node = descend(tree_, 0, row_);
        for (;;) {
            signal_.check();
            if (tree_.feature[node] >= 0) {
                open_.push_back({node, static_cast<std::size_t>(tree_.child_indptr[node])});
                most_open_ = std::max(most_open_, open_.size());
                start();
                node =
                    descend(tree_, static_cast<std::size_t>(tree_.child[open_.back().next]), row_);
                continue;
            }
            finish(node);
            while (!open_.empty()) {
                combine(tree_.share[open_.back().next]);
                if (!is_last_branch()) break;
                open_.pop_back();
            }
            if (open_.empty()) return;
            node =
                descend(tree_, static_cast<std::size_t>(tree_.child[++open_.back().next]), row_);
        }
    }

    bool is_last_branch() const {
        const auto& [node, next] = open_.back();
        return next + 1 == static_cast<std::size_t>(tree_.child_indptr[node + 1]);
    }

    /// The sum of the innermost open test.
    double* sum(std::size_t n) { return sums_.data() + (open_.size() - 1) * n; }

    void copy_leaf(std::size_t leaf, std::size_t begin, std::size_t end) {
        std::fill(done_.begin(), done_.end(), 0.0);
        const auto labels = std::span(tree_.value_label);
        const auto last = static_cast<std::size_t>(tree_.value_indptr[leaf + 1]);
        auto k = static_cast<std::size_t>(tree_.value_indptr[leaf]);
        if (begin > 0) {
            k = static_cast<std::size_t>(std::lower_bound(labels.begin() + k,
                                                          labels.begin() + last,
                                                          static_cast<std::int32_t>(begin)) -
                                         labels.begin());
        }
        for (; k < last && static_cast<std::size_t>(labels[k]) < end; ++k) {
            done_[static_cast<std::size_t>(labels[k]) - begin] = tree_.value[k];
        }
    }

    const Tree& tree_;
    const Rows& row_;
    StopSignal& signal_;
    std::vector<OpenTest> open_;
    std::size_t most_open_ = 0;
    std::vector<double> sums_;  // per open test
    std::vector<double> done_;  // of the last finished node
};

/// Adds the shares of a leaf that a whole row reaches, divided by `divisor`.
template <typename Votes>
void add_whole(const Tree& tree, std::size_t leaf, double divisor, Votes& out) {
    if (divisor == 1.0) {
        add_leaf(tree, leaf, 1.0, out);
    } else {
        add_divided(tree, leaf, divisor, out);
    }
}

/// Adds the shares of the selected row, divided by `divisor`.
template <typename Rows, typename Votes>
void add_row(const Tree& tree, const Rows& row, Mixing mixing, double divisor,
             std::size_t n_labels, StopSignal& signal, std::vector<Part>& stack, Votes& out) {
    const auto way = [&](std::size_t from, const Rows& one) { return descend(tree, from, one); };
    const auto node = way(0, row);
    if (tree.feature[node] < 0) {
        add_whole(tree, node, divisor, out);
    } else if (mixing == Mixing::by_leaf) {
        mix_by_leaf(tree, row, way, divisor, stack, out);
    } else {
        BranchMixer(tree, row, signal).add(divisor, n_labels, out);
    }
}

}  // namespace ramify
