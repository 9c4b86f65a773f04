#include "criteria/known_variance.hpp"

#include <algorithm>
#include <numeric>

#include "common/random.hpp"

namespace ramify {

KnownVarianceScan::KnownVarianceScan(const Targets& targets)
    : targets_(targets),
      unknown_labels_(*targets.unknown),
      local_(targets.n_labels(), not_here),
      local_pattern_(targets.unknown->patterns.n_rows(), not_here) {}

void KnownVarianceScan::reset(const NodeRows& rows, const NodeLabels&) {
    weights_ = rows.weight;
    weight_ = std::accumulate(rows.weight.begin(), rows.weight.end(), 0.0);
    noise_ = smallest_known_share * weight_;
    number_patterns(rows);
    number_labels(rows);
    group_labels();
    list_unknown();
    for (const auto name : names_) local_[static_cast<std::size_t>(name)] = not_here;
    for (const auto pattern : node_patterns_) local_pattern_[pattern] = not_here;
    node_.assign(width(), 0.0);
    left_.resize(width());
    joined_.resize(width());
    known_square_.resize(n_groups_);
    left_square_.resize(n_groups_);
    left_cross_.resize(n_groups_);
    for (std::uint32_t e = 0; e < rows.size(); ++e) add_to(node_.data(), e);
}

void KnownVarianceScan::number_patterns(const NodeRows& rows) {
    pattern_.resize(rows.size());
    node_patterns_.clear();
    pattern_weight_.clear();
    pattern_key_.clear();
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto pattern = unknown_labels_.of_row[rows.row[e]];
        if (local_pattern_[pattern] == not_here) {
            local_pattern_[pattern] = static_cast<std::uint32_t>(node_patterns_.size());
            node_patterns_.push_back(pattern);
            pattern_weight_.push_back(0);
            pattern_key_.push_back(0);
        }
        pattern_[e] = local_pattern_[pattern];
        pattern_weight_[pattern_[e]] += rows.weight[e];
        pattern_key_[pattern_[e]] += mix(e + 1);
    }
}

void KnownVarianceScan::number_labels(const NodeRows& rows) {
    names_.clear();
    counts_.clear();
    ids_.clear();
    starts_.assign(1, 0);
    for (std::size_t e = 0; e < rows.size(); ++e) {
        for (const auto label : targets_.labels.row(rows.row[e])) {
            auto& local = local_[static_cast<std::size_t>(label)];
            if (local == not_here) {
                local = static_cast<std::uint32_t>(names_.size());
                names_.push_back(label);
                counts_.push_back({});
            }
            counts_[local].total += rows.weight[e];
            ids_.push_back(local);
        }
        starts_.push_back(ids_.size());
    }
    for (std::size_t k = 0; k < node_patterns_.size(); ++k) {
        for (const auto label : unknown_labels_.patterns.row(node_patterns_[k])) {
            const auto local = local_[static_cast<std::size_t>(label)];
            if (local == not_here) continue;
            counts_[local].unknown += pattern_weight_[k];
            counts_[local].signature += pattern_key_[k];
        }
    }
}

/// Labels count as known by the same rows when the sums of 64-bit row keys agree: a false match
/// among a million labels has a chance of about 1e-8.
void KnownVarianceScan::group_labels() {
    std::vector<std::uint32_t> order(counts_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](auto local) { return counts_[local].signature; });
    group_.resize(counts_.size());
    label_weight_.resize(counts_.size());
    n_groups_ = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const auto& count = counts_[order[k]];
        if (k == 0 || count.signature != counts_[order[k - 1]].signature) ++n_groups_;
        group_[order[k]] = static_cast<std::uint32_t>(n_groups_ - 1);
        label_weight_[order[k]] =
            targets_.label_weight[static_cast<std::size_t>(names_[order[k]])];
    }
}

void KnownVarianceScan::list_unknown() {
    unknown_.clear();
    unknown_starts_.assign(1, 0);
    std::vector<std::uint32_t> seen(n_groups_, not_here);
    for (std::size_t k = 0; k < node_patterns_.size(); ++k) {
        for (const auto label : unknown_labels_.patterns.row(node_patterns_[k])) {
            const auto local = local_[static_cast<std::size_t>(label)];
            if (local == not_here || seen[group_[local]] == k) continue;
            seen[group_[local]] = static_cast<std::uint32_t>(k);
            unknown_.push_back(group_[local]);
        }
        unknown_starts_.push_back(unknown_.size());
    }
}

void KnownVarianceScan::add_to(double* sums, std::uint32_t entry) const {
    const double weight = weights_[entry];
    for (const auto id : labels_of(entry)) sums[id] += weight;
    double* unknown = sums + label_weight_.size();
    for (const auto group : unknown_of(entry)) unknown[group] += weight;
}

double KnownVarianceScan::squares(const double* sums, double weight) const {
    const double* unknown = sums + label_weight_.size();
    double total = 0;
    for (std::size_t id = 0; id < label_weight_.size(); ++id) {
        const double known = known_in(weight, unknown[group_[id]]);
        if (known > 0) total += label_weight_[id] * sums[id] * sums[id] / known;
    }
    return total;
}

void KnownVarianceScan::begin(std::span<const std::uint32_t> missing) {
    std::ranges::fill(left_, 0.0);
    std::ranges::fill(left_square_, 0.0);
    std::ranges::fill(left_cross_, 0.0);
    left_weight_ = 0;
    known_ = node_;
    known_weight_ = weight_;
    if (!missing.empty()) {
        std::ranges::fill(joined_, 0.0);
        double gone = 0;
        for (const auto entry : missing) {
            add_to(joined_.data(), entry);
            gone += weights_[entry];
        }
        for (std::size_t k = 0; k < width(); ++k) known_[k] -= joined_[k];
        known_weight_ -= gone;
    }
    double mass = 0;
    std::ranges::fill(known_square_, 0.0);
    for (std::size_t id = 0; id < label_weight_.size(); ++id) {
        mass += label_weight_[id] * known_[id];
        known_square_[group_[id]] += label_weight_[id] * known_[id] * known_[id];
    }
    known_squares_ = squares(known_.data(), known_weight_);
    known_impurity_ = mass - known_squares_;
    if (known_impurity_ <= smallest_known_share * mass) known_impurity_ = 0;
}

SquaredSums KnownVarianceScan::squares_of(std::span<const std::uint32_t> missing) {
    begin({});
    for (const auto entry : missing) move(entry);
    return {gain(), known_impurity_};
}

void KnownVarianceScan::move(std::uint32_t entry) {
    const double weight = weights_[entry];
    for (const auto id : labels_of(entry)) {
        const double part = label_weight_[id] * weight;
        left_square_[group_[id]] += part * (2 * left_[id] + weight);
        left_cross_[group_[id]] += part * known_[id];
        left_[id] += weight;
    }
    double* unknown = left_.data() + label_weight_.size();
    for (const auto group : unknown_of(entry)) unknown[group] += weight;
    left_weight_ += weight;
}

double KnownVarianceScan::gain() const {
    const std::size_t n_labels = label_weight_.size();
    const double* unknown = known_.data() + n_labels;
    const double* left_unknown = left_.data() + n_labels;
    const double right_weight = known_weight_ - left_weight_;
    double total = -known_squares_;
    for (std::size_t g = 0; g < n_groups_; ++g) {
        const double left = known_in(left_weight_, left_unknown[g]);
        const double right = known_in(right_weight, unknown[g] - left_unknown[g]);
        const double rest = known_square_[g] - 2 * left_cross_[g] + left_square_[g];
        total += (left > 0 ? left_square_[g] / left : 0) + (right > 0 ? rest / right : 0);
    }
    return total;
}

double KnownVarianceScan::gain_of(const double* left, double weight) const {
    const double* unknown = known_.data() + label_weight_.size();
    const double* left_unknown = left + label_weight_.size();
    double total = squares(left, weight) - known_squares_;
    for (std::size_t id = 0; id < label_weight_.size(); ++id) {
        const auto g = group_[id];
        const double right = known_in(known_weight_ - weight, unknown[g] - left_unknown[g]);
        const double rest = known_[id] - left[id];
        if (right > 0) total += label_weight_[id] * rest * rest / right;
    }
    return total;
}

void KnownVarianceScan::begin_values(std::size_t n_values,
                                     std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * width(), 0.0);
    value_weight_.assign(n_values, 0.0);
}

void KnownVarianceScan::add(std::size_t value, std::uint32_t entry) {
    add_to(value_sums_.data() + value * width(), entry);
    value_weight_[value] += weights_[entry];
}

void KnownVarianceScan::complete(std::size_t value) {
    if (value < value_weight_.size()) {
        subtract_others(value, known_, value_sums_, value_weight_);
    }
}

double KnownVarianceScan::gain_with(std::size_t value) const {
    const double* sums = value_sums_.data() + value * width();
    for (std::size_t k = 0; k < width(); ++k) joined_[k] = left_[k] + sums[k];
    return gain_of(joined_.data(), left_weight_ + value_weight_[value]);
}

void KnownVarianceScan::take(std::size_t value) {
    const double* sums = value_sums_.data() + value * width();
    for (std::size_t k = 0; k < width(); ++k) left_[k] += sums[k];
    left_weight_ += value_weight_[value];
}

double KnownVarianceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double total = -known_squares_;
    for (const auto value : values) {
        total += squares(value_sums_.data() + value * width(), value_weight_[value]);
    }
    return total;
}

}  // namespace ramify
