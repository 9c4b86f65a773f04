// Gradient boosting: margins of all rows, and one more tree per round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/gradients.hpp"
#include "gradient_boosting/growing.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/sketch.hpp"
#include "gradient_boosting/tree.hpp"

namespace ramify {

/// The outputs of each row, borrowed: compressed rows.
struct OutputSets {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::size_t n_outputs;
};

/// Which rows learn and which are held out, both increasing; weights of all rows.
struct RowRoles {
    std::vector<std::uint32_t> learning;
    std::vector<std::uint32_t> held_out;
    std::vector<float> weight;
};

class GradientBooster {
  public:
    /// `start`: the margins before the first round, one per output. `output_weight`: the weight
    /// of each output in the search for splits.
    GradientBooster(BinnedData data, const OutputSets& outputs, RowRoles roles,
                    std::span<const double> start, std::span<const double> output_weight,
                    const GradientBoostingOptions& options);
    GradientBooster(const GradientBooster&) = delete;  // the grower refers to members
    GradientBooster& operator=(const GradientBooster&) = delete;

    /// Grows a tree and adds its values to the margins.
    BoostedTree learn(StopSignal& signal);

    /// The mean loss of the learning rows, or of those held out.
    double loss(bool held_out, StopSignal& signal) const;

    /// Margins by row and output. add_margins adds to them, so that learning can go on from
    /// other trees.
    void copy_margins(std::span<const std::uint32_t> rows, std::span<float> out) const;
    void add_margins(std::span<const float> margins);

    std::size_t n_rows() const { return data_.n_rows; }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_features() const { return data_.features.size(); }

  private:
    float* margins(std::size_t row) { return margins_.data() + row * stride_; }
    const float* margins(std::size_t row) const { return margins_.data() + row * stride_; }
    std::span<const std::int32_t> outputs_of(std::size_t row) const;
    std::vector<std::uint32_t> draw_rows(std::uint64_t seed) const;
    std::vector<std::int32_t> draw_features(std::uint64_t seed) const;
    void sketch_rows(std::span<const std::uint32_t> rows, StopSignal& signal);
    std::vector<float> find_values(const GrownTree& tree, std::span<const std::size_t> leaves,
                                   StopSignal& signal) const;
    void update_margins(const GrownTree& tree, std::span<const std::int32_t> leaf_of_node,
                        std::span<const float> values, StopSignal& signal);
    BoostedTree describe(const GrownTree& tree, std::span<const std::int32_t> leaf_of_node,
                         std::span<const float> values) const;

    BinnedData data_;
    RowRoles roles_;
    GradientBoostingOptions options_;
    std::size_t n_outputs_;
    std::size_t stride_;                // floats per row of margins
    std::vector<std::int32_t> order_;   // outputs by decreasing size of their gradients
    std::vector<std::int64_t> indptr_;  // the outputs of each row, as places in order_
    std::vector<std::int32_t> indices_;
    std::vector<std::int32_t> usable_;  // features with more than one bin
    Sketch sketch_;
    std::vector<float> margins_;
    std::vector<float> sketched_;         // per row: the sketch of its gradients
    std::vector<Normaliser> normaliser_;  // per row, for softmax
    TreeGrower grower_;
    std::uint64_t n_rounds_ = 0;
};

}  // namespace ramify
