#include "decoding/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ramify {

namespace {

constexpr std::size_t block_size = 32;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The largest value of a block. Four maxima are kept, because each comparison depends on the
/// last.
double largest(const double* values) {
    double best[4] = {values[0], values[1], values[2], values[3]};
    for (std::size_t i = 4; i < block_size; i += 4) {
        for (std::size_t t = 0; t < 4; ++t) {
            best[t] = values[i + t] > best[t] ? values[i + t] : best[t];
        }
    }
    return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
}

}  // namespace

GreedyDecoder::GreedyDecoder(const LeafGraph& graph)
    : graph_(graph),
      has_all_children_(graph.n_labels(), 1),
      gain_((graph.n_leaves() + block_size - 1) / block_size * block_size),
      block_best_(gain_.size() / block_size),
      block_changed_(block_best_.size()),
      step_of_(graph.n_labels()),
      bound_(graph.n_labels()),
      below_(graph.n_labels() + 1),
      best_below_(graph.n_labels() + 1) {
    for (std::size_t label = 0; label < graph.n_labels(); ++label) {
        const auto above = graph.parents().row(label);
        for (std::size_t k = 1; k < above.size(); ++k) has_all_children_[above[k]] = 0;
    }
}

void GreedyDecoder::solve(std::span<const double> weights, std::int32_t k,
                          std::span<char> chosen) {
    start(weights);
    double margin = 0.0;
    if (k == 0) {
        compute_bounds(weights);
        // A bound on rounding errors; a value lower than the best by more than this cannot
        // recover.
        for (const double weight : weights) margin += std::abs(weight);
        margin *= 1e-12;
    }
    const auto max_leaves = k > 0 ? k : static_cast<std::int32_t>(graph_.n_leaves());
    std::int32_t last = max_leaves;
    double best = minus_infinity;
    for (std::int32_t step = 1; step <= max_leaves; ++step) {
        take(best_leaf(), weights, step);
        if (k > 0) continue;
        if (value_ > best) {
            best = value_;
            last = step;
        }
        if (value_ + max_gain_ + margin < best) break;
    }
    for (std::size_t label = 0; label < weights.size(); ++label) {
        chosen[label] = step_of_[label] > 0 && step_of_[label] <= last;
    }
}

void GreedyDecoder::start(std::span<const double> weights) {
    std::fill(gain_.begin(), gain_.end(), minus_infinity);
    std::fill(step_of_.begin(), step_of_.end(), 0);
    std::fill(block_changed_.begin(), block_changed_.end(), 1);
    value_ = 0.0;
    std::size_t leaf = 0;
    for (const std::int32_t label : graph_.leaves()) gain_[leaf++] = weights[label];
    for (std::size_t label = 0; label < weights.size(); ++label) {
        if (!graph_.is_leaf(label)) add_below(label, weights[label]);
    }
}

void GreedyDecoder::compute_bounds(std::span<const double> weights) {
    std::fill(below_.begin(), below_.end(), 0.0);
    std::fill(best_below_.begin(), best_below_.end(), minus_infinity);
    for (std::size_t label = weights.size(); label-- > 0;) {
        double bound = weights[label] + below_[label];
        // At least one child is chosen with its parent. If this label is the first parent of all
        // its children and each of them has a cost, the cheapest is counted.
        if (below_[label] <= 0.0 && has_all_children_[label] && !graph_.is_leaf(label)) {
            bound += best_below_[label];
        }
        bound_[label] = bound;
        const auto parent = graph_.parent(label);
        below_[parent] += std::max(0.0, bound);
        best_below_[parent] = std::max(best_below_[parent], bound);
    }
    max_gain_ = below_.back();
}

std::size_t GreedyDecoder::best_leaf() {
    for (std::size_t block = 0; block < block_best_.size(); ++block) {
        if (!block_changed_[block]) continue;
        block_best_[block] = largest(gain_.data() + block * block_size);
        block_changed_[block] = 0;
    }
    const auto block = static_cast<std::size_t>(
        std::max_element(block_best_.begin(), block_best_.end()) - block_best_.begin());
    const auto first = gain_.begin() + static_cast<std::ptrdiff_t>(block * block_size);
    return static_cast<std::size_t>(std::find(first, gain_.end(), block_best_[block]) -
                                    gain_.begin());
}

void GreedyDecoder::take(std::size_t leaf, std::span<const double> weights, std::int32_t step) {
    for (const std::int32_t label : graph_.path(leaf)) {
        if (step_of_[label] != 0) continue;
        step_of_[label] = step;
        value_ += weights[label];
        max_gain_ += below_[label] - std::max(0.0, bound_[label]);
        if (graph_.is_leaf(label)) continue;
        add_below(label, -weights[label]);
        for (const LeafRun run : graph_.below(label)) {
            const auto first = static_cast<std::size_t>(run.first) / block_size;
            const auto last = static_cast<std::size_t>(run.last - 1) / block_size;
            for (std::size_t block = first; block <= last; ++block) block_changed_[block] = 1;
        }
    }
    gain_[leaf] = minus_infinity;
    block_changed_[leaf / block_size] = 1;
}

void GreedyDecoder::add_below(std::size_t label, double change) {
    for (const LeafRun run : graph_.below(label)) {
        for (std::int32_t leaf = run.first; leaf < run.last; ++leaf) gain_[leaf] += change;
    }
}

}  // namespace ramify
