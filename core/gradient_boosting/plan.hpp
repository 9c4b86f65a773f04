// What learning needs besides margins, wherever it runs: bins, outputs, roles and random draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/growing.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/outputs.hpp"
#include "gradient_boosting/sketch.hpp"
#include "gradient_boosting/tree.hpp"

namespace ramify {

/// Which rows learn and which are held out, both increasing; weights of all rows.
struct RowRoles {
    std::vector<std::uint32_t> learning;
    std::vector<std::uint32_t> held_out;
    std::vector<float> weight;
};

/// What is drawn for one tree: its rows and features, both increasing, and its sketch.
struct TreeSample {
    std::vector<std::uint32_t> rows;
    std::vector<std::int32_t> features;
    Sketch sketch;
};

/// Outputs have places: by decreasing size of their gradients, padded to `stride`.
class BoostingPlan {
  public:
    /// `output_weight`: the weight of each output in the search for splits.
    BoostingPlan(BinnedData data, const OutputSets& outputs, RowRoles roles,
                 std::span<const double> output_weight, const GradientBoostingOptions& options);

    const BinnedData& data() const { return data_; }
    const RowRoles& roles() const { return roles_; }
    const GradientBoostingOptions& options() const { return options_; }
    std::size_t n_rows() const { return data_.n_rows; }
    std::size_t n_features() const { return data_.features.size(); }
    std::size_t n_outputs() const { return order_.size(); }
    std::size_t stride() const { return sketch_.n_padded(); }
    /// The number of outputs if these are few and no feature is sparse, so that trees are grown
    /// from records; else 0.
    std::size_t n_few() const {
        return n_outputs() <= max_few_outputs && data_.groups.empty() ? n_outputs() : 0;
    }
    std::size_t sketch_width() const { return sketch_.width(); }
    std::size_t n_shared() const { return sketch_.n_shared(); }
    /// The output at each place.
    std::span<const std::int32_t> order() const { return order_; }
    /// The places of the outputs of each row.
    const OutputPlaces& places() const { return places_; }

    TreeSample draw(std::uint64_t round) const;

    /// Writes a grown tree with its nodes in depth-first order. `values`: `stride` numbers for
    /// each leaf, of which `leaf_of_node` has the number.
    BoostedTree describe(std::span<const GrownNode> nodes,
                         std::span<const std::int32_t> leaf_of_node,
                         std::span<const float> values) const;

  private:
    BinnedData data_;
    RowRoles roles_;
    GradientBoostingOptions options_;
    std::vector<std::int32_t> order_;
    OutputPlaces places_;
    std::vector<std::int32_t> usable_;  // features with more than one bin
    Sketch sketch_;                     // not drawn
};

}  // namespace ramify
