#include "criteria/distance.hpp"

#include <algorithm>

namespace ramify {

namespace {

/// Arrays for moving entries to the left side, see DistanceScan.
struct SetMoves {
    const std::uint32_t* set;  // per entry
    const double* weight;      // per entry
    const double* cells;
    std::size_t stride;
    const double* cross;
    double* left;
};

/// Moves the items in order and writes Q1 and X after each.
RAMIFY_ANY_WIDTH
void move_by_sets(const SetMoves& moves, const RankedEntry* items, std::size_t n,
                  double* __restrict square, double* __restrict cross) {
    double* __restrict left = moves.left;
    double square_sum = 0;
    double cross_sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t a = moves.set[items[k].entry];
        const double v = moves.weight[items[k].entry];
        const double* __restrict row = moves.cells + a * moves.stride;
        square_sum += v * (2 * left[a]);
        cross_sum += v * moves.cross[a];
        square[k] = square_sum;
        cross[k] = cross_sum;
        for (std::size_t j = 0; j < moves.stride; j += simd_block) {
            for (std::size_t t = 0; t < simd_block; ++t) left[j + t] += v * row[j + t];
        }
    }
}

}  // namespace

void DistanceScan::reset(const NodeRows& rows, const NodeLabels&) {
    weights_ = rows.weight;
    builder_.build(rows, node_);
    stride_ = (node_.size() + simd_block - 1) / simd_block * simd_block;
    fill_cells();
    cross_.assign(stride_, 0.0);
    weight_ = square_ = 0;
    for (const double weight : rows.weight) weight_ += weight;
    for (std::size_t a = 0; a < node_.size(); ++a) {
        add_scaled(cross_.data(), row(a), node_.total[a], stride_);
    }
    for (std::size_t a = 0; a < node_.size(); ++a) square_ += node_.total[a] * cross_[a];
    left_.resize(stride_);
    missing_.resize(stride_);
}

void DistanceScan::fill_cells() {
    const std::size_t n = node_.size();
    cells_.resize(n * stride_);
    for (std::size_t a = 0; a < n; ++a) {
        double* cells = cells_.data() + a * stride_;
        const double* squared = sets_.squared.data() + node_.set[a] * sets_.n_sets;
        for (std::size_t b = 0; b < n; ++b) cells[b] = -0.5 * squared[node_.set[b]];
        std::fill(cells + n, cells + stride_, 0.0);
    }
}

void DistanceScan::begin(std::span<const std::uint32_t> missing) {
    left_weight_ = left_square_ = left_cross_ = 0;
    std::ranges::fill(left_, 0.0);
    known_weight_ = weight_;
    known_square_ = square_;
    known_cross_ = cross_;
    if (!missing.empty()) leave_out(missing);
    known_part_ = known_weight_ > 0 ? known_square_ / known_weight_ : 0;
}

SquaredSums DistanceScan::squares_of(std::span<const std::uint32_t> missing) {
    begin({});
    for (const auto entry : missing) move(entry);
    return {gain(), known_impurity()};
}

/// Q of what is known: Q - 2 sum_m v_m cross_m + Q of the missing, one after the other.
void DistanceScan::leave_out(std::span<const std::uint32_t> missing) {
    std::ranges::fill(missing_, 0.0);
    double gone = 0;
    for (const auto entry : missing) {
        const double v = weights_[entry];
        const auto a = node_.of_entry[entry];
        known_square_ += 2 * v * (missing_[a] - cross_[a]);
        add_scaled(missing_.data(), row(a), v, stride_);
        gone += v;
    }
    known_weight_ -= gone;
    for (std::size_t b = 0; b < stride_; ++b) known_cross_[b] -= missing_[b];
}

void DistanceScan::move(std::uint32_t entry) {
    const double v = weights_[entry];
    const auto a = node_.of_entry[entry];
    left_square_ += 2 * v * left_[a];
    left_cross_ += v * known_cross_[a];
    left_weight_ += v;
    add_scaled(left_.data(), row(a), v, stride_);
}

void DistanceScan::move_all(std::span<const RankedEntry> items) {
    // A few entries, such as those of a sparse column, have fewer pairs than cells.
    if (2 * items.size() <= stride_ / simd_block) {
        move_few(items);
        return;
    }
    const SetMoves moves{node_.of_entry.data(), weights_.data(), cells_.data(), stride_,
                         known_cross_.data(),   left_.data()};
    move_by_sets(moves, items.data(), items.size(), prefix_.square.data(), prefix_.cross.data());
}

void DistanceScan::move_few(std::span<const RankedEntry> items) {
    double square = 0;
    double cross = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
        const double v = weights_[items[k].entry];
        const auto a = node_.of_entry[items[k].entry];
        double left = 0;
        for (std::size_t j = 0; j < k; ++j) {
            left += weights_[items[j].entry] * row(a)[node_.of_entry[items[j].entry]];
        }
        square += v * (2 * left);
        cross += v * known_cross_[a];
        prefix_.square[k] = square;
        prefix_.cross[k] = cross;
    }
}

void DistanceScan::begin_values(std::size_t n_values, std::span<const std::uint32_t> missing) {
    begin(missing);
    known_ = node_.total;
    for (const auto entry : missing) known_[node_.of_entry[entry]] -= weights_[entry];
    value_sums_.assign(n_values * node_.size(), 0.0);
    value_left_.assign(n_values * stride_, 0.0);
    value_square_.assign(n_values, 0.0);
    value_cross_.assign(n_values, 0.0);
    value_weight_.assign(n_values, 0.0);
}

void DistanceScan::add(std::size_t value, std::uint32_t entry) {
    value_sums_[value * node_.size() + node_.of_entry[entry]] += weights_[entry];
    value_weight_[value] += weights_[entry];
}

void DistanceScan::complete(std::size_t value) {
    const std::size_t n = node_.size();
    if (value < value_weight_.size()) subtract_others(value, known_, value_sums_, value_weight_);
    for (std::size_t v = 0; v < value_weight_.size(); ++v) {
        const double* sums = value_sums_.data() + v * n;
        double* left = value_left_.data() + v * stride_;
        // A category has few of the sets: all categories together cost entries times sets.
        for (std::size_t a = 0; a < n; ++a) {
            if (sums[a] != 0) add_scaled(left, row(a), sums[a], stride_);
        }
        for (std::size_t a = 0; a < n; ++a) {
            value_square_[v] += sums[a] * left[a];
            value_cross_[v] += sums[a] * known_cross_[a];
        }
    }
}

double DistanceScan::square_with(std::size_t value) const {
    const double* sums = value_sums_.data() + value * node_.size();
    double both = 0;
    for (std::size_t a = 0; a < node_.size(); ++a) both += left_[a] * sums[a];
    return left_square_ + 2 * both + value_square_[value];
}

double DistanceScan::gain_with(std::size_t value) const {
    return gain_of(square_with(value), left_cross_ + value_cross_[value],
                   left_weight_ + value_weight_[value]);
}

void DistanceScan::take(std::size_t value) {
    left_square_ = square_with(value);
    left_cross_ += value_cross_[value];
    left_weight_ += value_weight_[value];
    add_scaled(left_.data(), value_left_.data() + value * stride_, 1.0, stride_);
}

double DistanceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = -known_part_;
    for (const auto value : values) gain += value_square_[value] / value_weight_[value];
    return gain;
}

}  // namespace ramify
