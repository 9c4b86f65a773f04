// Bins of features, found from counts of their values, and the rows of a partition in these bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "gradient_boosting/binning.hpp"

namespace ramify {

/// The bins of a numeric feature. Its values are weighed in intervals, from `low` to `high`, by
/// decreasing value; an interval may be one value.
BinnedFeature bin_intervals(std::span<const double> low, std::span<const double> high,
                            std::span<const double> weights, std::size_t max_bins);

/// Puts the rows of a partition into given bins: every feature is stored dense.
template <typename T>
BinnedData bin_rows(MatrixView<T> X, std::vector<BinnedFeature> features);
BinnedData bin_rows(const CscView& X, std::vector<BinnedFeature> features);

}  // namespace ramify
