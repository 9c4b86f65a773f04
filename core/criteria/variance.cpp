#include "criteria/variance.hpp"

#include <algorithm>

namespace ramify {

double VarianceScan::impurity_of(std::span<const LabelSum> sums, double weight) {
    double total = 0;
    for (const auto& s : sums) total += s.label_weight * s.sum * (1 - s.sum / weight);
    return std::max(0.0, total);
}

void VarianceScan::reset(const NodeRows& rows, const NodeLabels& labels) {
    reset_base(rows, labels);
    labels_sums_.reset(labels, weights_);
    kernel_sums_.reset(labels.kernel, weights_);
}

void VarianceScan::begin(std::span<const std::uint32_t> missing) {
    begin_known(missing, !labels_->kernel.empty());
    if (!by_kernel_) labels_sums_.begin_moves();
}

void VarianceScan::begin_known(std::span<const std::uint32_t> missing, bool by_kernel) {
    left_weight_ = left_square_ = left_cross_ = 0;
    double gone = 0;
    for (const auto entry : missing) gone += weights_[entry];
    known_weight_ = labels_->weight - gone;
    by_kernel_ = by_kernel;
    known_ = by_kernel ? kernel_sums_.begin(missing) : labels_sums_.begin(missing);
    known_part_ = known_weight_ > 0 ? known_.square / known_weight_ : 0;
}

void VarianceScan::move(std::uint32_t entry) {
    double square = 0;
    double cross = 0;
    if (by_kernel_) {
        kernel_sums_.move(entry, &square, &cross);
    } else {
        labels_sums_.move(entry, &square, &cross);
    }
    left_square_ += square;
    left_cross_ += cross;
    left_weight_ += weights_[entry];
}

void VarianceScan::begin_values(std::size_t n_values, std::span<const std::uint32_t> missing) {
    begin_known(missing, !clus_ && !labels_->kernel.empty());
    value_weight_.assign(n_values, 0.0);
    value_cross_.assign(n_values, 0.0);
    value_products_.assign(n_values * n_values, 0.0);
    left_products_.assign(n_values, 0.0);
    added_.clear();
    if (clus_) clus_sums_.begin(*labels_, weights_, n_values, missing);
}

template <typename Sums>
void VarianceScan::sum_values(Sums& sums) {
    for (const auto& [value, entry] : added_) {
        value_weight_[value] += weights_[entry];
        value_cross_[value] += weights_[entry] * sums.cross(entry);
    }
    if (!clus_) sums.add_products(added_, value_weight_.size(), value_products_);
}

void VarianceScan::complete(std::size_t value) {
    if (by_kernel_) {
        sum_values(kernel_sums_);
    } else {
        sum_values(labels_sums_);
    }
    if (clus_) {
        sum_values_as_clus(value);
    } else if (value < value_weight_.size()) {
        leave_rest_to(value);
    }
}

void VarianceScan::sum_values_as_clus(std::size_t value) {
    const std::size_t n_values = value_weight_.size();
    clus_sums_.add(added_);
    if (value < n_values) subtract_others(value, clus_sums_.known, clus_sums_.sums, value_weight_);
    for (std::size_t v = 0; v < n_values; ++v) {
        value_products_[v * n_values + v] = clus_sums_.square(v);
    }
}

/// A category's product with all known entries is its cross sum, which gives the products of the
/// one category that was not added.
void VarianceScan::leave_rest_to(std::size_t value) {
    const std::size_t n_values = value_weight_.size();
    value_weight_[value] = known_weight_;
    value_cross_[value] = known_.square;
    for (std::size_t v = 0; v < n_values; ++v) {
        if (v == value) continue;
        double rest = value_cross_[v];
        for (std::size_t u = 0; u < n_values; ++u) rest -= value_products_[u * n_values + v];
        value_products_[value * n_values + v] = value_products_[v * n_values + value] = rest;
        value_weight_[value] -= value_weight_[v];
        value_cross_[value] -= value_cross_[v];
    }
    double own = value_cross_[value];
    for (std::size_t v = 0; v < n_values; ++v) {
        if (v != value) own -= value_products_[value * n_values + v];
    }
    value_products_[value * n_values + value] = own;
}

double VarianceScan::value_square(std::size_t value) const {
    return value_products_[value * value_weight_.size() + value];
}

double VarianceScan::square_with(std::size_t value) const {
    return left_square_ + 2 * left_products_[value] + value_square(value);
}

double VarianceScan::gain_with(std::size_t value) const {
    if (clus_) return clus_score_with(value) * static_cast<double>(n_labels_);
    return gain_of(square_with(value), left_cross_ + value_cross_[value],
                   left_weight_ + value_weight_[value]);
}

double VarianceScan::clus_score_with(std::size_t value) const {
    return clus_sums_.score_with(value, left_weight_ + value_weight_[value], known_weight_,
                                 n_labels_);
}

void VarianceScan::take(std::size_t value) {
    left_square_ = square_with(value);
    left_cross_ += value_cross_[value];
    left_weight_ += value_weight_[value];
    const std::size_t n_values = value_weight_.size();
    for (std::size_t v = 0; v < n_values; ++v) {
        left_products_[v] += value_products_[value * n_values + v];
    }
    if (clus_) clus_sums_.take(value);
}

double VarianceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = -known_part_;
    for (const auto value : values) gain += value_square(value) / value_weight_[value];
    return gain;
}

}  // namespace ramify
