// Dual coordinate descent for a linear model of two classes with squared hinge loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "linear/rows.hpp"

namespace ramify {

/// When to stop.
struct LinearStopping {
    double tolerance;  // of the projected gradient of the dual
    int max_epochs;
};

/// Minimises (|w|² + b²) / 2 + Σ cost_i max(0, 1 - y_i (w·x_i + b))² over the dual variables α,
/// one at a time in random order (Hsieh et al., 2008). At the optimum w = Σ α_i y_i x_i, and α_i
/// is 0 for all rows beyond the margin; they are not visited until the others agree.
class LinearSolver {
  public:
    /// cost_i is `cost` times the weight of the row, which is positive.
    LinearSolver(const LinearRows& rows, double cost, std::span<const double> weights)
        : rows_(rows), cost_(cost), row_weights_(weights) {}

    /// Learns which rows are positive, `signs` being 1 for them and -1 for the others.
    void solve(std::span<const std::int8_t> signs, const LinearStopping& stopping, SplitMix random,
               StopSignal& signal);

    std::span<const double> weights() const { return weights_; }
    double intercept() const { return intercept_; }

    double margin(std::size_t row) const { return rows_.dot(row, weights_) + intercept_; }

    /// Prepares `influence`.
    void measure_leverage();
    /// Estimates how much smaller the margin of a row would be, in the direction of its sign, if a
    /// share of its weight were left out.
    ///
    /// Only rows with α > 0 have an influence. With the Hessian H = I + Σ 2 cost_j x_j x_jᵀ over
    /// these rows, leaving out row i moves its margin by α_i h / (2 cost_i (1 - h)) against its
    /// sign, where h = 2 cost_i x_iᵀ H⁻¹ x_i. The diagonal takes the place of H. The move is at
    /// most α_i |x_i|², that of a row that shares no feature with any other.
    double influence(std::size_t row, double share) const;

    /// Goes on with smaller weights of some rows, 0 leaving a row out: the margins become those of
    /// a model fitted with these weights, but that rows beyond the margin stay there.
    void reduce(std::span<const double> weights, const LinearStopping& stopping, SplitMix random,
                StopSignal& signal);

  private:
    /// Visits the active rows in random order, of which those beyond the margin become inactive,
    /// and returns how far apart the projected gradients are.
    double pass(SplitMix& random);
    void set_alpha(std::size_t row, double alpha);

    double cost_of(std::size_t row) const { return cost_ * row_weights_[row]; }

    const LinearRows& rows_;
    double cost_;
    std::span<const double> row_weights_;
    std::span<const std::int8_t> signs_;
    std::vector<double> weights_;
    double intercept_ = 0;
    std::vector<double> alpha_;
    std::vector<std::uint32_t> active_;  // rows; the first n_active_ are active
    std::size_t n_active_ = 0;
    std::vector<double> curvature_;  // the diagonal of H
};

}  // namespace ramify
