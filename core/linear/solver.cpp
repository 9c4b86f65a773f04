#include "linear/solver.hpp"

#include <algorithm>
#include <utility>

namespace ramify {

namespace {

constexpr int most_passes = 3;  // over the rows that are not left out

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
    const std::size_t limit = n * static_cast<std::size_t>(stopping.max_epochs);
    int passes = 0;  // since all rows were visited
    for (std::size_t visits = 0; visits < limit;) {
        signal.check();
        const bool all = n_active_ == n;
        visits += n_active_;
        const bool agree = pass(random) <= stopping.tolerance;
        if (all && agree) break;
        passes = all ? 0 : passes + 1;
        // Rows beyond the margin may have to come back.
        if (agree || passes == most_passes || n_active_ == 0) n_active_ = n;
    }
}

double LinearSolver::pass(SplitMix& random) {
    for (std::size_t i = n_active_; i > 1; --i) {
        std::swap(active_[i - 1], active_[random.below(static_cast<std::uint32_t>(i))]);
    }
    double low = 0;
    double high = 0;
    for (std::size_t k = 0; k < n_active_;) {
        const std::size_t i = active_[k];
        if (k + 1 < n_active_) rows_.prefetch_row(active_[k + 1]);
        const double slack = 0.5 / cost_of(i);
        const double gradient = signs_[i] * margin(i) - 1 + alpha_[i] * slack;
        if (alpha_[i] == 0 && gradient > 0) {
            std::swap(active_[k], active_[--n_active_]);
            continue;
        }
        low = std::min(low, gradient);
        high = std::max(high, gradient);
        if (gradient < -1e-12 || gradient > 1e-12) {
            const double step = gradient / (rows_.squares[i] + 1 + slack);
            set_alpha(i, std::max(alpha_[i] - step, 0.0));
        }
        ++k;
    }
    return high - low;
}

void LinearSolver::set_alpha(std::size_t row, double alpha) {
    const double step = signs_[row] * (alpha - alpha_[row]);
    alpha_[row] = alpha;
    rows_.for_cells(row, [&](std::size_t j, double value) { weights_[j] += step * value; });
    intercept_ += step;
}

void LinearSolver::measure_leverage() {
    curvature_.assign(rows_.features.size(), 1.0);
    for (std::size_t i = 0; i < rows_.n_rows(); ++i) {
        if (alpha_[i] == 0) continue;
        const double twice = 2 * cost_of(i);
        rows_.for_cells(i, [&](std::size_t j, double x) { curvature_[j] += twice * x * x; });
    }
}

double LinearSolver::influence(std::size_t row, double share) const {
    if (alpha_[row] == 0) return 0;
    double leverage = 0;
    rows_.for_cells(row, [&](std::size_t j, double x) { leverage += x * x / curvature_[j]; });
    const double twice = 2 * cost_of(row) * share;
    leverage *= twice;
    double move = rows_.squares[row];
    if (leverage < 1) move = std::min(move, leverage / (twice * (1 - leverage)));
    return alpha_[row] * share * move;
}

void LinearSolver::reduce(std::span<const double> weights, const LinearStopping& stopping,
                          SplitMix random, StopSignal& signal) {
    for (std::size_t row = 0; row < rows_.n_rows(); ++row) {
        if (weights[row] == row_weights_[row] || alpha_[row] == 0) continue;
        set_alpha(row, alpha_[row] * weights[row] / row_weights_[row]);
    }
    row_weights_ = weights;
    const auto active = std::span(active_).first(n_active_);
    n_active_ -= std::ranges::partition(active, [&](auto row) { return weights[row] > 0; }).size();
    for (int epoch = 0; epoch < stopping.max_epochs && n_active_ > 0; ++epoch) {
        signal.check();
        if (pass(random) <= stopping.tolerance) break;
    }
}

}  // namespace ramify
