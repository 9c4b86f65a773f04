#include "hierarchy/isotonic_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ramify {

namespace {

/// A remaining surplus of at most this share of all surplus and deficit is attributed to rounding.
constexpr double relative_rounding = 1e-13;

}  // namespace

IsotonicGraph::IsotonicGraph(SparseRowsView parents, std::span<const double> weight)
    : parents_(parents),
      weight_(weight),
      flow_(parents),
      joined_(parents.n_rows()),
      changed_(parents.n_rows()) {}

void IsotonicGraph::solve(std::span<double> row) {
    score_.assign(row.begin(), row.end());
    std::iota(joined_.begin(), joined_.end(), 0);
    std::fill(changed_.begin(), changed_.end(), char{0});
    while (join_violated(row)) solve_groups(row);
}

std::int32_t IsotonicGraph::group_of(std::int32_t label) {
    while (joined_[label] != label) {
        joined_[label] = joined_[joined_[label]];
        label = joined_[label];
    }
    return label;
}

/// Joins the groups at the ends of violated edges; returns whether there were any.
bool IsotonicGraph::join_violated(std::span<const double> row) {
    bool joined = false;
    for (std::size_t child = 0; child < row.size(); ++child) {
        for (const std::int32_t parent : parents_.row(child)) {
            if (row[child] <= row[parent]) continue;
            const std::int32_t a = group_of(static_cast<std::int32_t>(child));
            const std::int32_t b = group_of(parent);
            if (a == b) continue;
            joined_[std::max(a, b)] = std::min(a, b);
            changed_[std::min(a, b)] = 1;
            joined = true;
        }
    }
    return joined;
}

void IsotonicGraph::solve_groups(std::span<double> row) {
    labels_.clear();
    for (std::int32_t label = 0; label < static_cast<std::int32_t>(row.size()); ++label) {
        if (changed_[group_of(label)]) labels_.push_back(label);
    }
    std::stable_sort(labels_.begin(), labels_.end(),
                     [&](auto a, auto b) { return group_of(a) < group_of(b); });
    for (std::size_t begin = 0; begin < labels_.size();) {
        const std::int32_t group = group_of(labels_[begin]);
        std::size_t end = begin;
        while (end < labels_.size() && group_of(labels_[end]) == group) ++end;
        solve_group(Labels(labels_).subspan(begin, end - begin), row);
        changed_[group] = 0;
        begin = end;
    }
}

void IsotonicGraph::solve_group(Labels group, std::span<double> row) {
    blocks_.assign(1, group);
    while (!blocks_.empty()) {
        const Labels block = blocks_.back();
        blocks_.pop_back();
        const double mean = mean_score(block);
        const std::size_t n_above = block.size() == 1 ? 0 : cut(block, mean);
        if (n_above == 0) {
            for (const std::int32_t label : block) row[label] = mean;
        } else {
            blocks_.push_back(block.first(n_above));
            blocks_.push_back(block.subspan(n_above));
        }
    }
}

/// Moves the labels of the best upper set to the front of the block and returns their number, or 0
/// if the block is not cut.
std::size_t IsotonicGraph::cut(Labels block, double mean) {
    double total = 0.0;
    surplus_.clear();
    for (const std::int32_t label : block) {
        surplus_.push_back(weight_[label] * (score_[label] - mean));
        total += std::abs(surplus_.back());
    }
    if (flow_.carry_up(block, surplus_) <= relative_rounding * total) return 0;
    below_.clear();
    std::size_t n_above = 0;
    for (std::size_t k = 0; k < block.size(); ++k) {
        if (flow_.is_above(k)) {
            block[n_above++] = block[k];
        } else {
            below_.push_back(block[k]);
        }
    }
    std::copy(below_.begin(), below_.end(), block.begin() + static_cast<std::ptrdiff_t>(n_above));
    return n_above == block.size() ? 0 : n_above;
}

double IsotonicGraph::mean_score(Labels block) const {
    if (block.size() == 1) return score_[block.front()];
    double sum = 0.0;
    double mass = 0.0;
    for (const std::int32_t label : block) {
        sum += weight_[label] * score_[label];
        mass += weight_[label];
    }
    return sum / mass;
}

}  // namespace ramify
