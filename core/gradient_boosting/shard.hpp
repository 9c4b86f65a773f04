// One partition of the rows of a boosted model.
//
// All that leaves a partition is a sum of whole numbers: gradients are rounded to multiples of a
// power of two, row by row. Sums of whole numbers do not depend on their order, so that the model
// is the same for any division of the rows into partitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/drawing.hpp"
#include "gradient_boosting/margins.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/outputs.hpp"
#include "gradient_boosting/sketch.hpp"
#include "gradient_boosting/splitting.hpp"

namespace ramify {

/// Numbers are multiples of 2 to the power of minus these bits, which may be negative.
struct FixedPoint {
    int sketch_bits = 20;
    int weight_bits = 0;
    int leaf_bits = 24;  // of gradients and curvatures in leaves
};

/// What all partitions have in common.
struct ShardPlan {
    std::vector<double> start;          // margin before the first round, per output
    std::vector<double> output_weight;  // per output, in the search for splits
    std::vector<std::int32_t> order;    // outputs by decreasing size of their gradients
    FixedPoint fixed;
    double sampled_share = 1;  // of the rows that a tree draws
    GradientBoostingOptions options;
};

/// The test of a node whose rows are to be divided; its children are `yes` and yes + 1.
struct NodeDivision {
    std::size_t node;
    BinSplit split;
    std::size_t yes;
};

/// A tree over bins. Values are by leaf and output, outputs in the order of the plan.
struct BinnedTree {
    std::vector<BinSplit> split;    // per node; feature -1: a leaf
    std::vector<std::int32_t> yes;  // per node: its first child; the other is the next
    std::vector<std::int32_t> leaf;
    std::vector<float> value;
};

class BoosterShard {
  public:
    /// `first_row`: the number of the first row among the rows of all partitions.
    BoosterShard(BinnedData data, const OutputSets& outputs, std::vector<float> weight,
                 std::vector<std::uint8_t> held_out, std::uint64_t first_row, ShardPlan plan);
    BoosterShard(const BoosterShard&) = delete;  // the margins refer to members
    BoosterShard& operator=(const BoosterShard&) = delete;

    /// Draws the rows of a round, which are the rows of node 0, and sketches their gradients.
    void start_tree(std::uint64_t round, StopSignal& signal);
    void divide(const NodeDivision& division);
    /// Adds a histogram of the features: per bin, the last of a feature being that of missing
    /// values, the sums of the sketch, the rows and their weight.
    void add_histograms(std::size_t node, std::span<const std::int32_t> features,
                        std::span<std::int64_t> out, StopSignal& signal) const;
    /// Adds the sums of a leaf: n_outputs gradients and the rows, n_outputs curvatures and the
    /// weight.
    void add_leaf_sums(std::size_t node, std::span<std::int64_t> out, StopSignal& signal) const;
    /// Adds the values of a tree to the margins of all rows.
    void add_tree(const BinnedTree& tree, StopSignal& signal);
    /// The sum of the losses of the rows that learn or are held out: whole part, 2^30 times the
    /// rest, and the sum of the weights.
    std::array<std::int64_t, 3> loss(bool held_out, StopSignal& signal) const;

    std::size_t n_rows() const { return data_.n_rows; }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_nodes() const { return nodes_.size(); }
    const BinnedData& data() const { return data_; }
    std::size_t width() const { return sketch_.width(); }

  private:
    struct Range {
        std::size_t begin;
        std::size_t end;
    };

    std::span<const std::uint32_t> rows_of(std::size_t node) const;

    BinnedData data_;
    ShardPlan plan_;
    std::vector<float> weight_;
    std::vector<std::int64_t> whole_weight_;  // in fixed point
    std::vector<std::uint8_t> held_out_;
    std::uint64_t first_row_;
    std::size_t n_outputs_;
    OutputPlaces places_;
    Sketch sketch_;
    std::size_t stride_;  // floats per row of margins
    Margins margins_;
    std::vector<std::int32_t> sketched_;  // per row, in fixed point
    std::vector<std::uint32_t> rows_;     // of this tree, by node
    std::vector<Range> nodes_;
    std::vector<std::uint32_t> buffer_;
};

/// Finds the best split of a node from summed histograms.
struct FoundSplit {
    BinSplit split;
    std::int64_t rows = 0;      // of the node
    std::int64_t rows_yes = 0;  // of its first branch
};

FoundSplit find_exact_split(std::span<const BinnedFeature> features,
                            std::span<const std::int32_t> chosen,
                            std::span<const std::int64_t> histograms, const FixedPoint& fixed,
                            const CutRules& rules, unsigned n_threads, StopSignal& signal);

/// Numbers per bin of a histogram: the sketch, rows and weight.
inline constexpr std::size_t numbers_per_bin(std::size_t width) {
    return width + 2;
}

}  // namespace ramify
