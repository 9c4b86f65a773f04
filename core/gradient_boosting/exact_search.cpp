// Splits from histograms that were summed over partitions.
#include <algorithm>
#include <cmath>

#include "gradient_boosting/shard.hpp"
#include "gradient_boosting/tasks.hpp"

namespace ramify {

namespace {

/// The histogram of one feature in floating point.
class FloatHistogram {
  public:
    FloatHistogram(const FixedPoint& fixed, std::size_t width) : fixed_(fixed), width_(width) {}

    void read(const std::int64_t* numbers, std::size_t n_bins) {
        sums_.resize(n_bins * width_);
        rows_.resize(n_bins);
        weights_.resize(n_bins);
        const double unit = std::ldexp(1.0, -fixed_.sketch_bits);
        for (std::size_t b = 0; b < n_bins; ++b) {
            const std::int64_t* bin = numbers + b * numbers_per_bin(width_);
            for (std::size_t j = 0; j < width_; ++j) {
                sums_[b * width_ + j] = static_cast<float>(static_cast<double>(bin[j]) * unit);
            }
            rows_[b] = static_cast<std::uint32_t>(bin[width_]);
            weights_[b] = std::ldexp(static_cast<double>(bin[width_ + 1]), -fixed_.weight_bits);
        }
    }
    HistogramView view() const { return {sums_.data(), rows_.data(), weights_.data()}; }

  private:
    FixedPoint fixed_;
    std::size_t width_;
    std::vector<float> sums_;
    std::vector<std::uint32_t> rows_;
    std::vector<double> weights_;
};

/// The sum over the bins of one feature.
std::vector<std::int64_t> add_bins(const std::int64_t* numbers, std::size_t n_bins,
                                   std::size_t stride) {
    std::vector<std::int64_t> total(stride, 0);
    for (std::size_t b = 0; b < n_bins; ++b) {
        for (std::size_t j = 0; j < stride; ++j) total[j] += numbers[b * stride + j];
    }
    return total;
}

}  // namespace

FoundSplit find_exact_split(std::span<const BinnedFeature> features,
                            std::span<const std::int32_t> chosen,
                            std::span<const std::int64_t> histograms, const FixedPoint& fixed,
                            const CutRules& rules, unsigned n_threads, StopSignal& signal) {
    FoundSplit best;
    if (chosen.empty()) return best;
    const auto stride = numbers_per_bin(rules.width);
    std::vector<std::size_t> first{0};
    for (const auto f : chosen) {
        first.push_back(first.back() + features[static_cast<std::size_t>(f)].n_bins + 1U);
    }
    // Every row is in one bin of each feature.
    const auto whole = add_bins(histograms.data(), first[1], stride);
    FloatHistogram total(fixed, rules.width);
    total.read(whole.data(), 1);
    const NodeTotal node{total.view().sums, total.view().rows[0], total.view().weights[0]};
    const auto n_tasks = (chosen.size() + features_per_task - 1) / features_per_task;
    std::vector<BinSplit> found(n_tasks);
    parallel_for(n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        signal.check();
        SplitFinder finder(rules);
        FloatHistogram histogram(fixed, rules.width);
        const auto last = std::min((task + 1) * features_per_task, chosen.size());
        for (auto i = task * features_per_task; i < last; ++i) {
            histogram.read(histograms.data() + first[i] * stride, first[i + 1] - first[i]);
            finder.search(features[static_cast<std::size_t>(chosen[i])], chosen[i],
                          histogram.view(), node, found[task]);
        }
    });
    best.rows = whole[rules.width];
    for (const auto& split : found) {
        if (split.gain > best.split.gain) best.split = split;
    }
    if (best.split.feature < 0) return best;
    const auto at =
        static_cast<std::size_t>(std::ranges::find(chosen, best.split.feature) - chosen.begin());
    for (auto b = first[at]; b < first[at + 1]; ++b) {
        if (best.split.yes.has(b - first[at])) {
            best.rows_yes += histograms[b * stride + rules.width];
        }
    }
    return best;
}

}  // namespace ramify
