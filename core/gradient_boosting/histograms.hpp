// Histograms of the sketched gradients of a node: one per feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/records.hpp"
#include "gradient_boosting/splitting.hpp"

namespace ramify {

/// Rows of a node and what is summed over them.
struct SketchedRows {
    std::span<const std::uint32_t> rows;  // increasing
    const float* sketch;                  // per row of the data: `width` floats
    const float* weight;                  // per row of the data
    std::size_t width;
};

/// The histograms of several features, one after the other.
class Histograms {
  public:
    /// `first_bin[i]`: where the bins of feature i begin; its last bin is that of missing values.
    void reset(std::span<const std::size_t> first_bin, std::size_t width);
    HistogramView view(std::size_t feature) const;
    /// Fills the histogram of one dense feature.
    void fill(std::size_t feature, const std::uint8_t* bins, const SketchedRows& node);
    /// Adds sums of records by bin, from bin `first` to `last` - 1 of all; begins anew if `clear`.
    /// `weight`: of every row, if they are equal.
    void add_records(std::size_t first, std::size_t last, const RecordSums& part,
                     std::size_t n_outputs, std::optional<double> weight, bool clear);
    /// Subtracts the histogram of the same feature in another node.
    void subtract(std::size_t feature, const HistogramView& other);

  private:
    friend class SparseHistograms;
    /// Adds rows to the bins that begin at `first`, and their vectors to `sums`.
    void add_rows(std::size_t first, const std::uint8_t* bins, std::span<const std::uint32_t> rows,
                  const SketchedRows& node, float* sums);

    std::size_t width_ = 0;
    std::vector<std::size_t> first_bin_;
    std::vector<float> sums_;
    std::vector<std::uint32_t> rows_;
    std::vector<double> weights_;
};

/// Histograms of the sparse features of a group, of which only some are wanted.
class SparseHistograms {
  public:
    /// Fills histograms of the features at `places` (increasing) of the group.
    void fill(const BinnedData& data, const SparseGroup& group,
              std::span<const std::uint32_t> places, const SketchedRows& node,
              const NodeTotal& total);
    /// The histogram of the feature at places[i].
    HistogramView view(std::size_t i) const { return histograms_.view(i); }
    /// Whether the feature at places[i] has a cell other than zero in the node.
    bool has_cells(std::size_t i) const { return n_cells_[i] > 0; }

  private:
    void list_cells(const SparseGroup& group, const SketchedRows& node);
    void add_cells(const SketchedRows& node);

    Histograms histograms_;
    std::vector<std::int32_t> slot_of_place_;
    std::vector<std::uint32_t> n_cells_;
    std::vector<std::uint32_t> row_;
    std::vector<std::uint32_t> target_;
    std::vector<std::size_t> part_end_;  // in row_ and target_
    std::vector<float> part_;
};

}  // namespace ramify
