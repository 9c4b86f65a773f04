#include "gradient_boosting/edges.hpp"

#include <algorithm>
#include <cmath>

#include "growing/split.hpp"

namespace ramify {

namespace {

std::uint8_t bin_of(const BinnedFeature& feature, double value) {
    if (std::isnan(value)) return feature.n_bins;
    if (feature.nominal) {
        const auto n_codes = static_cast<double>(feature.bin_of_code.size());
        if (!(value >= 0 && value < n_codes)) return feature.n_bins;
        return feature.bin_of_code[static_cast<std::size_t>(value)];
    }
    // Thresholds decrease; values above threshold[b] have a bin of at most b.
    const auto found =
        std::ranges::partition_point(feature.threshold, [&](double t) { return !(value > t); });
    return static_cast<std::uint8_t>(found - feature.threshold.begin());
}

}  // namespace

BinnedFeature bin_intervals(std::span<const double> low, std::span<const double> high,
                            std::span<const double> weights, std::size_t max_bins) {
    BinnedFeature feature;
    for (const auto& cut : find_cuts(weights, max_bins)) {
        feature.threshold.push_back(threshold_between(low[cut.above], high[cut.below], true));
    }
    const bool any = std::ranges::any_of(weights, [](double weight) { return weight > 0; });
    feature.n_bins = static_cast<std::uint8_t>(any ? feature.threshold.size() + 1 : 0);
    return feature;
}

template <typename T>
BinnedData bin_rows(MatrixView<T> X, std::vector<BinnedFeature> features) {
    BinnedData data;
    data.n_rows = X.n_rows;
    data.features = std::move(features);
    for (std::size_t f = 0; f < data.features.size(); ++f) {
        auto& feature = data.features[f];
        feature.bins.resize(X.n_rows);
        for (std::size_t row = 0; row < X.n_rows; ++row) {
            feature.bins[row] = bin_of(feature, X.at(row, f));
        }
    }
    return data;
}

template BinnedData bin_rows(MatrixView<float>, std::vector<BinnedFeature>);
template BinnedData bin_rows(MatrixView<double>, std::vector<BinnedFeature>);

BinnedData bin_rows(const CscView& X, std::vector<BinnedFeature> features) {
    BinnedData data;
    data.n_rows = X.n_rows;
    data.features = std::move(features);
    for (std::size_t f = 0; f < data.features.size(); ++f) {
        auto& feature = data.features[f];
        feature.bins.assign(X.n_rows, bin_of(feature, 0.0));
        for (auto k = X.indptr[f]; k < X.indptr[f + 1]; ++k) {
            const auto cell = static_cast<std::size_t>(k);
            feature.bins[static_cast<std::size_t>(X.indices[cell])] =
                bin_of(feature, X.data[cell]);
        }
    }
    return data;
}

}  // namespace ramify
