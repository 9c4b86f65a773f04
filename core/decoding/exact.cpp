#include "decoding/exact.hpp"

#include <algorithm>
#include <limits>

#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers of BestTreeSets.
struct TreeTable {
    const std::int32_t* parent;
    std::size_t n_labels;
    const double* weights;
    double* positive;
    double* best;
    double* worth;
};

RAMIFY_ANY_WIDTH
void value_upwards(const TreeTable& table) {
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
      best_fresh_(positive_.size(), -infinity),
      worth_(tree.n_labels() * abreast) {
    for (std::size_t label = 0; label < tree.n_labels(); ++label) {
        if (!tree.is_leaf(label)) continue;
        std::fill_n(best_fresh_.begin() + static_cast<std::ptrdiff_t>(label * abreast), abreast,
                    0.0);
    }
}

void BestTreeSets::value(std::span<const double> weights) {
    std::fill(positive_.begin(), positive_.end(), 0.0);
    std::copy(best_fresh_.begin(), best_fresh_.end(), best_.begin());
    value_upwards({tree_.parent_of_all().data(), tree_.n_labels(), weights.data(),
                   positive_.data(), best_.data(), worth_.data()});
}

void BestTreeSets::choose(std::size_t row, std::span<char> chosen) {
    std::fill(chosen.begin(), chosen.end(), 0);
    open_.assign(1, static_cast<std::int32_t>(tree_.n_labels()));
    while (!open_.empty()) {
        const auto label = static_cast<std::size_t>(open_.back());
        open_.pop_back();
        const double best = best_[label * abreast + row];
        for (const std::int32_t child : tree_.children(label)) {
            const double worth = worth_[static_cast<std::size_t>(child) * abreast + row];
            if (worth > 0.0 || worth == best) {
                chosen[child] = 1;
                open_.push_back(child);
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
    hand_down(k, chosen);
}

/// Lets the parent of a label choose how many of its leaves are below this label.
void TreeKnapsack::merge(std::size_t label, double weight, std::int32_t k) {
    const auto& own = values_[label];
    auto& above = values_[tree_.parent(label)];
    const std::size_t most =
        std::min(static_cast<std::size_t>(k), own.size() - 1 + above.size() - 1);
    merged_.assign(most + 1, -infinity);
    auto& share = share_[label];
    share.assign(most + 1, 0);
    // No leaf below this label: it is not chosen and adds nothing.
    std::copy_n(above.begin(), std::min(above.size(), most + 1), merged_.begin());
    for (std::size_t mine = 1; mine < own.size(); ++mine) {
        const double value = weight + own[mine];
        for (std::size_t rest = 0; rest < above.size() && mine + rest <= most; ++rest) {
            const double sum = value + above[rest];
            if (sum > merged_[mine + rest]) {
                merged_[mine + rest] = sum;
                share[mine + rest] = static_cast<std::int32_t>(mine);
            }
        }
    }
    above.swap(merged_);
}

/// Children were merged last to first, so the first child's share is of all that the parent has.
void TreeKnapsack::hand_down(std::int32_t k, std::span<char> chosen) {
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
