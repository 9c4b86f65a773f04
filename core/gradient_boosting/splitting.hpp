// The best test of a feature in a node, found from a histogram.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gradient_boosting/binning.hpp"

namespace ramify {

/// Sums over the rows of a node by the bin of one feature. The last bin is that of missing
/// values.
struct HistogramView {
    const float* sums;          // per bin: a vector of sketched gradients
    const std::uint32_t* rows;  // per bin: rows
    const double* weights;      // per bin: sum of weights
};

/// What all features of a node have in common.
struct NodeTotal {
    const float* sums;
    std::uint32_t rows;
    double weight;
};

struct BinSet {
    std::array<std::uint64_t, 4> words{};
    void insert(std::size_t bin) { words[bin / 64] |= std::uint64_t{1} << (bin % 64); }
    bool has(std::size_t bin) const { return ((words[bin / 64] >> (bin % 64)) & 1) != 0; }
};

/// A test and its gain; feature -1: none. Rows whose bin is in `yes` take the first branch;
/// for a missing value, its bin says so.
struct BinSplit {
    std::int32_t feature = -1;
    double gain = 0;
    std::size_t cut = 0;  // numeric: the last bin of the first branch
    BinSet yes;
};

struct CutRules {
    std::size_t min_samples_leaf = 1;
    double l2_regularization = 1.0;
    std::size_t width = 0;  // floats per vector
};

/// Finds splits, one feature after the other, reusing its buffers.
class SplitFinder {
  public:
    explicit SplitFinder(const CutRules& rules);

    /// Replaces `best` if a test of the feature has a larger gain.
    void search(const BinnedFeature& feature, std::int32_t number, const HistogramView& histogram,
                const NodeTotal& total, BinSplit& best);

  private:
    void order_categories(const HistogramView& histogram);
    void scan(const BinnedFeature& feature, std::int32_t number, const HistogramView& histogram,
              const NodeTotal& total, bool missing_yes, BinSplit& best);

    CutRules rules_;
    std::vector<std::uint8_t> filled_;  // bins with rows, in the order of the scan
    std::vector<float> prefix_;
    std::vector<float> first_;
    std::vector<float> second_;
    std::vector<float> direction_;
    std::vector<float> means_;
};

}  // namespace ramify
