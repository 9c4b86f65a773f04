#include "linear/solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ramify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

void LinearSolver::solve(std::span<const std::int8_t> signs, const LinearStopping& stopping,
                         SplitMix random, StopSignal& signal) {
    const std::size_t n = rows_.n_rows();
    signs_ = signs;
    weights_.assign(rows_.features.size(), 0.0);
    intercept_ = 0;
    alpha_.assign(n, 0.0);
    active_.resize(n);
    for (std::size_t i = 0; i < n; ++i) active_[i] = static_cast<std::uint32_t>(i);
    n_active_ = n;
    double bound = infinity;
    for (int epoch = 0; epoch < stopping.max_epochs; ++epoch) {
        signal.check();
        for (std::size_t i = n_active_; i > 1; --i) {
            std::swap(active_[i - 1], active_[random.below(static_cast<std::uint32_t>(i))]);
        }
        const Extent gradients = pass(signs, bound);
        if (gradients.high - gradients.low <= stopping.tolerance) {
            if (n_active_ == n) break;
            n_active_ = n;  // rows that were left out may have to come back
            bound = infinity;
        } else {
            bound = gradients.high > 0 ? gradients.high : infinity;
        }
    }
}

LinearSolver::Extent LinearSolver::pass(std::span<const std::int8_t> signs, double bound) {
    Extent found{infinity, -infinity};
    for (std::size_t k = 0; k < n_active_;) {
        const std::size_t i = active_[k];
        const double sign = signs[i];
        const double slack = 0.5 / cost_of(i);
        const double gradient = sign * margin(i) - 1 + alpha_[i] * slack;
        double projected = gradient;
        if (alpha_[i] == 0) {
            if (gradient > bound) {  // far beyond the margin
                std::swap(active_[k], active_[--n_active_]);
                continue;
            }
            projected = std::min(gradient, 0.0);
        }
        found.low = std::min(found.low, projected);
        found.high = std::max(found.high, projected);
        if (projected < -1e-12 || projected > 1e-12) {
            const double before = alpha_[i];
            alpha_[i] = std::max(before - gradient / (rows_.squares[i] + 1 + slack), 0.0);
            const double step = sign * (alpha_[i] - before);
            rows_.for_cells(i, [&](std::size_t j, double value) { weights_[j] += step * value; });
            intercept_ += step;
        }
        ++k;
    }
    // Without any row left, they all are beyond the margin.
    return found.low > found.high ? Extent{0, 0} : found;
}

void LinearSolver::measure_leverage() {
    curvature_.assign(rows_.features.size(), 1.0);
    for (std::size_t i = 0; i < rows_.n_rows(); ++i) {
        if (alpha_[i] == 0) continue;
        const double twice = 2 * cost_of(i);
        rows_.for_cells(i, [&](std::size_t j, double x) { curvature_[j] += twice * x * x; });
    }
}

double LinearSolver::margin_without(std::size_t row) const {
    const double own = margin(row);
    if (alpha_[row] == 0) return own;
    double leverage = 0;
    rows_.for_cells(row, [&](std::size_t j, double x) { leverage += x * x / curvature_[j]; });
    const double share = std::min(1.0, 1 / row_weights_[row]);
    const double twice = 2 * cost_of(row) * share;
    leverage *= twice;
    double move = rows_.squares[row];
    if (leverage < 1) move = std::min(move, leverage / (twice * (1 - leverage)));
    return own - signs_[row] * alpha_[row] * share * move;
}

}  // namespace ramify
