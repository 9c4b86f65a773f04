#include "tree/medoid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/tolerance.hpp"

namespace ramify {

Medoid::Medoid(const Targets& targets)
    : targets_(targets), builder_(targets.sets), step_(targets.n_labels(), 0.0) {}

std::span<const std::int32_t> Medoid::of(const NodeRows& rows, std::span<const LabelSum> sums) {
    builder_.build(rows, node_);
    cost_.assign(node_.size(), 0.0);
    if (targets_.sets.squared.empty()) {
        add_euclidean(rows, sums);
    } else {
        add_distances();
    }
    const auto [least, most] = std::ranges::minmax(cost_);
    const double bound = least + relative_tolerance * std::abs(most);
    std::size_t best = node_.size();
    for (std::size_t a = 0; a < node_.size(); ++a) {
        if (cost_[a] > bound) continue;
        if (best == node_.size() ||
            node_.total[a] > node_.total[best] * (1 + relative_tolerance)) {
            best = a;
        }
    }
    return targets_.labels.row(rows.row[node_.first_entry[best]]);
}

void Medoid::add_distances() {
    for (std::size_t a = 0; a < node_.size(); ++a) {
        for (std::size_t b = 0; b < node_.size(); ++b) {
            cost_[a] += node_.total[b] * targets_.sets.between(node_.set[a], node_.set[b]);
        }
    }
}

/// With S_c the weight of the rows that have label c, the squared distances of a set to all rows
/// add up to sum_c w_c S_c, and w_c (W - 2 S_c) more for each of its labels.
void Medoid::add_euclidean(const NodeRows& rows, std::span<const LabelSum> sums) {
    const double weight = std::accumulate(node_.total.begin(), node_.total.end(), 0.0);
    double empty = 0;
    for (const auto& s : sums) {
        step_[static_cast<std::size_t>(s.label)] = s.label_weight * (weight - 2 * s.sum);
        empty += s.label_weight * s.sum;
    }
    for (std::size_t a = 0; a < node_.size(); ++a) {
        cost_[a] = empty;
        for (const auto label : targets_.labels.row(rows.row[node_.first_entry[a]])) {
            cost_[a] += step_[static_cast<std::size_t>(label)];
        }
    }
}

}  // namespace ramify
