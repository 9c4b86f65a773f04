#include "decoding/exact.hpp"

#include <algorithm>
#include <limits>

#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Pointers to the arrays of BestTreeSets.
struct TreeTable {
    const std::int32_t* parent;
    std::size_t n_labels;
    const double* weights;
    double* positive;
    double* best;
    double* worth;
};

RAMIFY_ANY_WIDTH
void compute_worths(const TreeTable& table) {
    const Lanes none = all(0.0);
    for (std::size_t label = table.n_labels; label-- > 0;) {
        const auto parent = static_cast<std::size_t>(table.parent[label]);
        const Lanes positive = load(table.positive, label);
        const Lanes below = positive > none ? positive : load(table.best, label);
        const Lanes worth = load(table.weights, label) + below;
        store(table.worth, label, worth);
        store(table.positive, parent, load(table.positive, parent) + larger(worth, none));
        store(table.best, parent, larger(worth, load(table.best, parent)));
    }
}

}  // namespace

BestTreeSets::BestTreeSets(const LeafGraph& tree)
    : tree_(tree),
      positive_((tree.n_labels() + 1) * abreast),
      best_(positive_.size()),
      initial_best_(positive_.size(), -infinity),
      worth_(tree.n_labels() * abreast) {
    for (std::size_t label = 0; label < tree.n_labels(); ++label) {
        if (!tree.is_leaf(label)) continue;
        std::fill_n(initial_best_.begin() + static_cast<std::ptrdiff_t>(label * abreast), abreast,
                    0.0);
    }
}

void BestTreeSets::evaluate(std::span<const double> weights) {
    std::fill(positive_.begin(), positive_.end(), 0.0);
    std::copy(initial_best_.begin(), initial_best_.end(), best_.begin());
    compute_worths({tree_.parent_of_all().data(), tree_.n_labels(), weights.data(),
                    positive_.data(), best_.data(), worth_.data()});
}

void BestTreeSets::choose(std::size_t row, std::span<char> chosen) {
    std::fill(chosen.begin(), chosen.end(), 0);
    pending_.assign(1, static_cast<std::int32_t>(tree_.n_labels()));
    while (!pending_.empty()) {
        const auto label = static_cast<std::size_t>(pending_.back());
        pending_.pop_back();
        const double best = best_[label * abreast + row];
        for (const std::int32_t child : tree_.children(label)) {
            const double worth = worth_[static_cast<std::size_t>(child) * abreast + row];
            if (worth > 0.0 || worth == best) {
                chosen[child] = 1;
                pending_.push_back(child);
            }
            if (best <= 0.0 && worth == best) break;
        }
    }
}

TreeKnapsack::TreeKnapsack(const LeafGraph& tree)
    : tree_(tree),
      values_(tree.n_labels() + 1),
      share_(tree.n_labels()),
      quota_(tree.n_labels() + 1) {}

void TreeKnapsack::solve(std::span<const double> weights, std::int32_t k, std::span<char> chosen) {
    for (auto& values : values_) values.assign(1, 0.0);
    for (std::size_t label = weights.size(); label-- > 0;) {
        if (tree_.is_leaf(label)) values_[label].push_back(0.0);
        merge(label, weights[label], k);
    }
    assign_shares(k, chosen);
}

/// Merges a label into its parent: computes, for every number of leaves of the parent, how many of
/// them are best taken below this label.
void TreeKnapsack::merge(std::size_t label, double weight, std::int32_t k) {
    const auto& own = values_[label];
    auto& above = values_[tree_.parent(label)];
    const std::size_t max_leaves =
        std::min(static_cast<std::size_t>(k), own.size() - 1 + above.size() - 1);
    merged_.assign(max_leaves + 1, -infinity);
    auto& share = share_[label];
    share.assign(max_leaves + 1, 0);
    // With no leaf below this label, it is not chosen and adds nothing.
    std::copy_n(above.begin(), std::min(above.size(), max_leaves + 1), merged_.begin());
    for (std::size_t mine = 1; mine < own.size(); ++mine) {
        const double value = weight + own[mine];
        for (std::size_t rest = 0; rest < above.size() && mine + rest <= max_leaves; ++rest) {
            const double sum = value + above[rest];
            if (sum > merged_[mine + rest]) {
                merged_[mine + rest] = sum;
                share[mine + rest] = static_cast<std::int32_t>(mine);
            }
        }
    }
    above.swap(merged_);
}

/// Assigns the numbers of leaves from the root down. Children were merged from last to first, so
/// the share of the first child refers to all leaves of the parent.
void TreeKnapsack::assign_shares(std::int32_t k, std::span<char> chosen) {
    const std::size_t root = tree_.n_labels();
    quota_[root] = k;
    for (std::size_t label = 0; label < root; ++label) {
        std::int32_t& left = quota_[tree_.parent(label)];
        const std::int32_t mine = share_[label][left];
        left -= mine;
        quota_[label] = mine;
        chosen[label] = mine > 0;
    }
}

}  // namespace ramify
