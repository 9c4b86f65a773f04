#include "gradient_boosting/splitting.hpp"

#include <algorithm>
#include <cmath>

#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

constexpr int power_steps = 8;
// Parts of a node with less than this share of its weight consist of rounding errors.
constexpr double smallest_share = 1e-6;

/// The gain of a leaf with this sum of gradients: |sum|² / (weight + 4 l2). The curvature of the
/// loss is at most 1/4 per row, so that this bounds the reduction of the loss, times 8, from
/// below; it needs no sum of curvatures per output.
double leaf_score(double squares, double weight, double l2) {
    return squares / (weight + 4 * l2);
}

}  // namespace

SplitFinder::SplitFinder(const CutRules& rules)
    : rules_(rules),
      prefix_(rules.width),
      first_(max_bins_of_feature + 1),
      second_(max_bins_of_feature + 1),
      direction_(rules.width) {}

void SplitFinder::search(const BinnedFeature& feature, std::int32_t number,
                         const HistogramView& histogram, const NodeTotal& total, BinSplit& best) {
    filled_.clear();
    for (std::size_t b = 0; b < feature.n_bins; ++b) {
        if (histogram.rows[b] > 0) filled_.push_back(static_cast<std::uint8_t>(b));
    }
    const bool any_missing = histogram.rows[feature.n_bins] > 0;
    if (filled_.size() + (any_missing ? 1 : 0) < 2) return;
    if (feature.nominal) order_categories(histogram);
    scan(feature, number, histogram, total, false, best);
    if (any_missing) scan(feature, number, histogram, total, true, best);
}

/// Sorts the bins by their mean gradient along its direction of largest variance. With one output
/// this order contains the best subset; with several it is a good guess.
void SplitFinder::order_categories(const HistogramView& histogram) {
    const auto width = rules_.width;
    const auto n = filled_.size();
    means_.resize((n + 1) * width);
    float* centre = means_.data() + n * width;
    std::fill_n(centre, width, 0.0F);
    double weight = 0;
    for (const auto bin : filled_) {
        add_floats(centre, histogram.sums + bin * width, width);
        weight += histogram.weights[bin];
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto bin = filled_[i];
        if (!(histogram.weights[bin] > smallest_share * weight)) {
            std::fill_n(&means_[i * width], width, 0.0F);
            continue;
        }
        const auto bin_weight = static_cast<float>(histogram.weights[bin]);
        for (std::size_t j = 0; j < width; ++j) {
            means_[i * width + j] = histogram.sums[bin * width + j] / bin_weight -
                                    centre[j] / static_cast<float>(weight);
        }
    }
    // Power iteration, from the mean that is farthest from the centre.
    std::size_t farthest = 0;
    float most = -1;
    for (std::size_t i = 0; i < n; ++i) {
        const float length = dot_floats(&means_[i * width], &means_[i * width], width);
        if (length > most) {
            most = length;
            farthest = i;
        }
    }
    std::copy_n(&means_[farthest * width], width, direction_.data());
    for (int step = 0; step < power_steps; ++step) {
        const float length = std::sqrt(dot_floats(direction_.data(), direction_.data(), width));
        if (!(length > 0)) break;
        for (auto& x : direction_) x /= length;
        std::ranges::fill(prefix_, 0.0F);
        for (std::size_t i = 0; i < n; ++i) {
            const float along = dot_floats(&means_[i * width], direction_.data(), width) *
                                static_cast<float>(histogram.weights[filled_[i]]);
            for (std::size_t j = 0; j < width; ++j) prefix_[j] += along * means_[i * width + j];
        }
        std::copy(prefix_.begin(), prefix_.end(), direction_.begin());
    }
    std::vector<std::pair<float, std::uint8_t>> order(n);
    for (std::size_t i = 0; i < n; ++i) {
        order[i] = {dot_floats(&means_[i * width], direction_.data(), width), filled_[i]};
    }
    std::ranges::sort(order);
    for (std::size_t i = 0; i < n; ++i) filled_[i] = order[i].second;
}

void SplitFinder::scan(const BinnedFeature& feature, std::int32_t number,
                       const HistogramView& histogram, const NodeTotal& total, bool missing_yes,
                       BinSplit& best) {
    const auto width = rules_.width;
    const std::size_t missing = feature.n_bins;
    std::uint32_t rows = 0;
    double weight = 0;
    if (missing_yes) {
        std::copy_n(histogram.sums + missing * width, width, prefix_.data());
        rows = histogram.rows[missing];
        weight = histogram.weights[missing];
    } else {
        std::ranges::fill(prefix_, 0.0F);
    }
    // Without missing values the last cut has an empty side.
    const bool last_too = !missing_yes && histogram.rows[missing] > 0;
    const auto n_cuts = filled_.size() - (last_too ? 0 : 1);
    measure_cuts(histogram.sums, filled_.data(), n_cuts, width, total.sums, prefix_.data(),
                 first_.data(), second_.data());
    const double whole = leaf_score(static_cast<double>(dot_floats(total.sums, total.sums, width)),
                                    total.weight, rules_.l2_regularization);
    const double least = smallest_share * total.weight;
    std::size_t chosen = n_cuts;
    for (std::size_t i = 0; i < n_cuts; ++i) {
        rows += histogram.rows[filled_[i]];
        weight += histogram.weights[filled_[i]];
        if (rows < rules_.min_samples_leaf) continue;
        if (total.rows - rows < rules_.min_samples_leaf) break;
        const double gain =
            leaf_score(static_cast<double>(first_[i]), std::max(least, weight),
                       rules_.l2_regularization) +
            leaf_score(static_cast<double>(second_[i]), std::max(least, total.weight - weight),
                       rules_.l2_regularization) -
            whole;
        if (gain > best.gain) {
            best.gain = gain;
            best.feature = number;
            chosen = i;
        }
    }
    if (chosen == n_cuts) return;
    best.yes = {};
    if (feature.nominal) {
        for (std::size_t i = 0; i <= chosen; ++i) best.yes.insert(filled_[i]);
    } else {
        // In the middle of the bins without rows between both sides.
        const std::size_t upper = filled_[chosen];
        const std::size_t lower =
            chosen + 1 < filled_.size() ? filled_[chosen + 1] : feature.n_bins;
        best.cut = (upper + lower - 1) / 2;
        if (chosen + 1 == filled_.size()) best.cut = feature.n_bins - 1U;
        for (std::size_t b = 0; b <= best.cut; ++b) best.yes.insert(b);
    }
    // Missing values not seen in this node go with the larger part of the rows.
    bool missing_first = missing_yes;
    if (histogram.rows[missing] == 0) {
        std::uint32_t first_rows = 0;
        for (std::size_t i = 0; i <= chosen; ++i) first_rows += histogram.rows[filled_[i]];
        missing_first = 2 * first_rows > total.rows;
    }
    if (missing_first) best.yes.insert(missing);
}

}  // namespace ramify
