// Gradient boosting: margins of all rows, and one more tree per round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"
#include "gradient_boosting/growing.hpp"
#include "gradient_boosting/margins.hpp"
#include "gradient_boosting/plan.hpp"
#include "gradient_boosting/tree.hpp"

namespace ramify {

class GradientBooster {
  public:
    /// `start`: the margins before the first round, one per output.
    GradientBooster(std::shared_ptr<const BoostingPlan> plan, std::span<const double> start);
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
    /// Makes the margins of outputs that are not known those of padding, to which adding changes
    /// nothing: they have no gradient, no curvature and no loss. For logistic loss.
    void hide(std::span<const std::uint32_t> pattern_of_row, SparseRowsView patterns);

    std::size_t n_rows() const { return plan_.n_rows(); }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_features() const { return plan_.n_features(); }

  private:
    void sketch_rows(std::span<const std::uint32_t> rows, const Sketch& sketch,
                     StopSignal& signal);
    std::vector<float> find_values(const GrownTree& tree, std::span<const std::size_t> leaves,
                                   StopSignal& signal) const;
    void update_margins(const GrownTree& tree, std::span<const std::int32_t> leaf_of_node,
                        std::span<const float> values, StopSignal& signal);
    std::int32_t find_leaf(const GrownTree& tree, std::span<const std::int32_t> leaf_of_node,
                           std::size_t row) const;

    std::shared_ptr<const BoostingPlan> shared_plan_;
    const BoostingPlan& plan_;
    std::size_t n_outputs_;
    std::size_t stride_;  // floats per leaf
    Margins margins_;
    std::vector<float> sketched_;  // per row: the sketch of its gradients; not with few outputs
    TreeGrower grower_;
    std::uint64_t n_rounds_ = 0;
};

}  // namespace ramify
