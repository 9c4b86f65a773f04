#include "tree/known_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ramify {

KnownShares::KnownShares(const Targets& targets)
    : targets_(targets),
      unknown_(*targets.unknown),
      sum_(targets.n_labels(), 0.0),
      unknown_sum_(targets.n_labels(), 0.0),
      share_(targets.n_labels(), 0.0),
      both_unknown_(unknown_.parents.indices.size(), 0.0),
      seen_in_(targets.n_labels(), static_cast<std::uint32_t>(-1)),
      pattern_weight_(unknown_.patterns.n_rows(), 0.0) {}

void KnownShares::compute(const NodeRows& rows, double weight, std::span<const LabelSum> sums) {
    touched_.clear();
    patterns_.clear();
    for (const auto& sum : sums) {
        sum_[static_cast<std::size_t>(sum.label)] = sum.sum;
        touched_.push_back(sum.label);
    }
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto pattern = unknown_.of_row[rows.row[e]];
        if (rows.weight[e] <= 0) continue;
        if (pattern_weight_[pattern] == 0) patterns_.push_back(pattern);
        pattern_weight_[pattern] += rows.weight[e];
    }
    for (const auto pattern : patterns_) add_pattern(pattern, pattern_weight_[pattern]);
    std::ranges::sort(touched_);
    const auto repeated = std::ranges::unique(touched_);
    touched_.erase(repeated.begin(), repeated.end());

    labels_.clear();
    values_.clear();
    for (const auto label : touched_) {
        const auto c = static_cast<std::size_t>(label);
        share_[c] = share_of(c, weight);
        if (share_[c] == 0) continue;
        labels_.push_back(label);
        values_.push_back(share_[c]);
    }
    for (const auto label : touched_) {
        const auto c = static_cast<std::size_t>(label);
        sum_[c] = unknown_sum_[c] = share_[c] = 0;
        for (auto k = unknown_.parents.indptr[c]; k < unknown_.parents.indptr[c + 1]; ++k) {
            both_unknown_[static_cast<std::size_t>(k)] = 0;
        }
    }
    for (const auto pattern : patterns_) pattern_weight_[pattern] = 0;
}

void KnownShares::add_pattern(std::uint32_t pattern, double weight) {
    for (const auto label : unknown_.patterns.row(pattern)) {
        const auto c = static_cast<std::size_t>(label);
        seen_in_[c] = pattern;
        if (unknown_sum_[c] == 0) touched_.push_back(label);
        unknown_sum_[c] += weight;
        auto k = static_cast<std::size_t>(unknown_.parents.indptr[c]);
        for (const auto parent : unknown_.parents.row(c)) {
            if (seen_in_[static_cast<std::size_t>(parent)] == pattern) both_unknown_[k] += weight;
            ++k;
        }
    }
}

double KnownShares::share_of(std::size_t c, double weight) {
    const double noise = smallest_known_share * weight;
    const auto parents = unknown_.parents.row(c);
    if (parents.empty()) {
        const double known = weight - unknown_sum_[c];
        return known > noise ? std::min(1.0, sum_[c] / known)
                             : std::numeric_limits<double>::quiet_NaN();
    }
    double least = std::numeric_limits<double>::quiet_NaN();
    auto k = static_cast<std::size_t>(unknown_.parents.indptr[c]);
    for (const auto parent : parents) {
        const auto p = static_cast<std::size_t>(parent);
        const double both = both_unknown_[k++];
        // Weight of the rows that know c: those that have the parent; those that do not know it.
        const double with_parent = sum_[p] - (unknown_sum_[c] - both);
        const double without = unknown_sum_[p] - both;
        if (share_[p] == 0 || (sum_[c] == 0 && std::max(with_parent, without) > noise)) return 0;
        if (std::isnan(share_[p])) continue;
        const double known = with_parent + share_[p] * without;
        if (known <= noise) continue;
        const bool all = unknown_sum_[c] == 0 && unknown_sum_[p] == 0;
        const double found = all && share_[p] == sum_[p] / weight
                                 ? sum_[c] / weight
                                 : share_[p] * std::min(1.0, sum_[c] / known);
        least = std::isnan(least) ? found : std::min(least, found);
    }
    return least;
}

namespace {

/// The values of one node by label.
class NodeShares {
  public:
    explicit NodeShares(std::size_t n_labels) : share_(n_labels, 0.0) {}
    void load(const Tree& tree, std::size_t node) {
        for (const auto label : labels_) share_[label] = 0;
        labels_.clear();
        const auto end = static_cast<std::size_t>(tree.value_indptr[node + 1]);
        for (auto k = static_cast<std::size_t>(tree.value_indptr[node]); k < end; ++k) {
            set(static_cast<std::size_t>(tree.value_label[k]), tree.value[k]);
        }
    }
    void set(std::size_t label, double share) {
        share_[label] = share;
        labels_.push_back(label);
    }
    double operator[](std::size_t label) const { return share_[label]; }

  private:
    std::vector<double> share_;
    std::vector<std::size_t> labels_;
};

double inherited(const UnknownLabels& unknown, std::size_t c, const NodeShares& here,
                 const NodeShares& above) {
    const auto parents = unknown.parents.row(c);
    if (parents.empty()) return above[c];
    double least = 1;
    for (const auto parent : parents) {
        const auto p = static_cast<std::size_t>(parent);
        const double ratio = above[p] > 0 ? std::min(1.0, above[c] / above[p]) : 0;
        least = std::min(least, here[p] * ratio);
    }
    return least;
}

}  // namespace

Tree inherit_shares(const Tree& tree, const UnknownLabels& unknown, std::size_t n_labels) {
    Tree result = tree;
    result.value_indptr.assign(1, 0);
    result.value_label.clear();
    result.value.clear();
    std::vector<std::size_t> parent(tree.n_nodes(), 0);
    NodeShares here(n_labels);
    NodeShares above(n_labels);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        for (auto k = tree.child_indptr[i]; k < tree.child_indptr[i + 1]; ++k) {
            parent[static_cast<std::size_t>(tree.child[static_cast<std::size_t>(k)])] = i;
        }
        // Nodes come after those above them, which are complete.
        if (i > 0) above.load(result, parent[i]);
        here.load(tree, i);
        const auto end = static_cast<std::size_t>(tree.value_indptr[i + 1]);
        for (auto k = static_cast<std::size_t>(tree.value_indptr[i]); k < end; ++k) {
            const auto c = static_cast<std::size_t>(tree.value_label[k]);
            double share = tree.value[k];
            if (std::isnan(share)) {
                share = i == 0 ? 0 : inherited(unknown, c, here, above);
                here.set(c, share);
            }
            if (share == 0) continue;
            result.value_label.push_back(tree.value_label[k]);
            result.value.push_back(share);
        }
        result.value_indptr.push_back(static_cast<std::int64_t>(result.value.size()));
    }
    return result;
}

}  // namespace ramify
