#include "criteria/target_scan.hpp"

#include <algorithm>
#include <limits>

namespace ramify {

template <typename Statistic>
void TargetScan<Statistic>::reset(const NodeRows& rows, const NodeLabels&) {
    weights_ = rows.weight;
    values_.resize(rows.size() * table_.n_targets());
    node_.assign(width_, 0.0);
    left_.resize(width_);
    joined_.resize(width_);
    right_.resize(width_);
    weight_ = 0;
    auto* to = values_.data();
    for (std::size_t e = 0; e < rows.size(); ++e) {
        to = std::ranges::copy(table_.row(rows.row[e]), to).out;
        statistic_.add(values(e), weights_[e], node_.data());
        weight_ += weights_[e];
    }
}

template <typename Statistic>
void TargetScan<Statistic>::begin(std::span<const std::uint32_t> missing) {
    std::ranges::fill(left_, 0.0);
    left_weight_ = 0;
    known_ = node_;
    known_weight_ = weight_;
    if (!missing.empty()) {
        std::ranges::fill(right_, 0.0);
        double gone = 0;
        for (const auto entry : missing) {
            statistic_.add(values(entry), weights_[entry], right_.data());
            gone += weights_[entry];
        }
        for (std::size_t k = 0; k < width_; ++k) known_[k] -= right_[k];
        known_weight_ -= gone;
    }
    known_impurity_ = impurity(known_, known_weight_, false);
}

template <typename Statistic>
SquaredSums TargetScan<Statistic>::squares_of(std::span<const std::uint32_t> missing) {
    std::ranges::fill(left_, 0.0);
    double gone = 0;
    for (const auto entry : missing) {
        statistic_.add(values(entry), weights_[entry], left_.data());
        gone += weights_[entry];
    }
    for (std::size_t k = 0; k < width_; ++k) right_[k] = node_[k] - left_[k];
    const double whole = squares_.impurity(node_.data(), weight_);
    return {whole - squares_.impurity(left_.data(), gone) -
                squares_.impurity(right_.data(), weight_ - gone),
            whole};
}

template <typename Statistic>
double TargetScan<Statistic>::impurity(const std::vector<double>& sums, double weight,
                                       bool rest) const {
    if (Statistic::uses_logarithms && clus_ &&
        std::ranges::any_of(std::span(sums).first(table_.n_columns()),
                            [](double sum) { return sum < 0; })) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return statistic_.impurity(sums.data(), weight, rest);
}

template <typename Statistic>
void TargetScan<Statistic>::move(std::uint32_t entry) {
    statistic_.add(values(entry), weights_[entry], left_.data());
    left_weight_ += weights_[entry];
}

template <typename Statistic>
double TargetScan<Statistic>::gain_of(const double* left, double weight) const {
    for (std::size_t k = 0; k < width_; ++k) right_[k] = known_[k] - left[k];
    return known_impurity_ -
           (statistic_.impurity(left, weight) + impurity(right_, known_weight_ - weight, true));
}

template <typename Statistic>
double TargetScan<Statistic>::gain() const {
    return gain_of(left_.data(), left_weight_);
}

template <typename Statistic>
void TargetScan<Statistic>::begin_values(std::size_t n_values,
                                         std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * width_, 0.0);
    value_weight_.assign(n_values, 0.0);
}

template <typename Statistic>
void TargetScan<Statistic>::add(std::size_t value, std::uint32_t entry) {
    statistic_.add(values(entry), weights_[entry], value_sums_.data() + value * width_);
    value_weight_[value] += weights_[entry];
}

template <typename Statistic>
void TargetScan<Statistic>::complete(std::size_t value) {
    if (value < value_weight_.size()) {
        subtract_others(value, known_, value_sums_, value_weight_);
    }
}

template <typename Statistic>
double TargetScan<Statistic>::gain_with(std::size_t value) const {
    const double* sums = value_sums(value);
    for (std::size_t k = 0; k < width_; ++k) joined_[k] = left_[k] + sums[k];
    return gain_of(joined_.data(), left_weight_ + value_weight_[value]);
}

template <typename Statistic>
double TargetScan<Statistic>::clus_score_with(std::size_t value) const {
    if constexpr (!Statistic::uses_logarithms) {
        return gain_with(value);
    } else {
        const double* sums = value_sums(value);
        for (std::size_t k = 0; k < width_; ++k) {
            joined_[k] = left_[k] + sums[k];
            right_[k] = known_[k] - joined_[k];
        }
        const double here = left_weight_ + value_weight_[value];
        const double there = known_weight_ - here;
        const double parts = here * statistic_.clus_entropy(joined_.data(), here) +
                             there * statistic_.clus_entropy(right_.data(), there);
        return statistic_.clus_entropy(known_.data(), known_weight_) - parts / known_weight_;
    }
}

template <typename Statistic>
void TargetScan<Statistic>::take(std::size_t value) {
    const double* sums = value_sums(value);
    for (std::size_t k = 0; k < width_; ++k) left_[k] += sums[k];
    left_weight_ += value_weight_[value];
}

template <typename Statistic>
double TargetScan<Statistic>::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = known_impurity_;
    for (const auto value : values) {
        gain -= statistic_.impurity(value_sums(value), value_weight_[value]);
    }
    return gain;
}

template class TargetScan<NumericStatistic>;
template class TargetScan<NominalStatistic<false>>;
template class TargetScan<NominalStatistic<true>>;

}  // namespace ramify
