#include "criteria/feature_variance.hpp"

#include <algorithm>
#include <numeric>

#include "common/tolerance.hpp"

namespace ramify {

FeatureVarianceScan::FeatureVarianceScan(const Targets& targets) : features_(*targets.features) {}

void FeatureVarianceScan::reset(const NodeRows& rows, const NodeLabels&) {
    row_ = rows.row;
    weights_ = rows.weight;
    weight_ = std::accumulate(rows.weight.begin(), rows.weight.end(), 0.0);
    noise_ = smallest_known_share * weight_;
    node_.assign(width(), 0.0);
    left_.resize(width());
    scratch_.resize(width());
    for (std::uint32_t e = 0; e < rows.size(); ++e) add_to(node_.data(), e);
}

void FeatureVarianceScan::add_to(double* sums, std::uint32_t entry) const {
    const double weight = weights_[entry];
    const auto row = row_[entry];
    const auto columns = features_.cells.row(row);
    const double* value = features_.value.data() + features_.cells.indptr[row];
    double square = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        sums[static_cast<std::size_t>(columns[k])] += weight * value[k];
        square += value[k] * value[k];
    }
    double* gone = sums + n_gappy();
    for (const auto column : features_.missing.row(row)) {
        gone[static_cast<std::size_t>(column)] += weight;
    }
    sums[width() - 1] += weight * square;
}

double FeatureVarianceScan::squares(const double* sums, double weight) const {
    double total = 0;
    for (std::size_t j = 0; j < features_.n_complete; ++j) total += sums[j] * sums[j];
    return part(total, weight) + squares_of_gappy(sums, weight);
}

double FeatureVarianceScan::squares_of_gappy(const double* sums, double weight) const {
    const double* gone = sums + n_gappy();
    double total = 0;
    for (std::size_t j = features_.n_complete; j < features_.n_columns; ++j) {
        total += part(sums[j] * sums[j], weight - gone[j]);
    }
    return total;
}

double FeatureVarianceScan::squares_of_rest(const double* sums, double weight) const {
    for (std::size_t k = 0; k < width(); ++k) scratch_[k] = known_[k] - sums[k];
    return squares(scratch_.data(), known_weight_ - weight);
}

void FeatureVarianceScan::begin(std::span<const std::uint32_t> missing) {
    std::ranges::fill(left_, 0.0);
    left_weight_ = left_square_ = left_cross_ = 0;
    known_ = node_;
    known_weight_ = weight_;
    if (!missing.empty()) {
        std::ranges::fill(scratch_, 0.0);
        for (const auto entry : missing) {
            add_to(scratch_.data(), entry);
            known_weight_ -= weights_[entry];
        }
        for (std::size_t k = 0; k < width(); ++k) known_[k] -= scratch_[k];
    }
    known_square_ = 0;
    for (std::size_t j = 0; j < features_.n_complete; ++j) known_square_ += known_[j] * known_[j];
    known_squares_ = squares(known_.data(), known_weight_);
    known_impurity_ = std::max(0.0, known_.back() - known_squares_);
}

SquaredSums FeatureVarianceScan::squares_of(std::span<const std::uint32_t> missing) {
    begin({});
    for (const auto entry : missing) move(entry);
    return {gain(), known_impurity_};
}

void FeatureVarianceScan::move(std::uint32_t entry) {
    const double weight = weights_[entry];
    const auto row = row_[entry];
    const auto columns = features_.cells.row(row);
    const double* value = features_.value.data() + features_.cells.indptr[row];
    std::size_t k = 0;
    double square = 0;
    double cross = 0;
    for (; k < columns.size(); ++k) {
        const auto j = static_cast<std::size_t>(columns[k]);
        if (j >= features_.n_complete) break;
        const double added = weight * value[k];
        square += added * (2 * left_[j] + added);
        cross += added * known_[j];
        left_[j] += added;
    }
    for (; k < columns.size(); ++k)
        left_[static_cast<std::size_t>(columns[k])] += weight * value[k];
    double* gone = left_.data() + n_gappy();
    for (const auto column : features_.missing.row(row)) {
        gone[static_cast<std::size_t>(column)] += weight;
    }
    left_square_ += square;
    left_cross_ += cross;
    left_weight_ += weight;
}

double FeatureVarianceScan::gain() const {
    const double right_weight = known_weight_ - left_weight_;
    double total = part(left_square_, left_weight_) - known_squares_;
    total += part(known_square_ - 2 * left_cross_ + left_square_, right_weight);
    const double* known_gone = known_.data() + n_gappy();
    const double* gone = left_.data() + n_gappy();
    for (std::size_t j = features_.n_complete; j < features_.n_columns; ++j) {
        const double rest = known_[j] - left_[j];
        total += part(left_[j] * left_[j], left_weight_ - gone[j]) +
                 part(rest * rest, right_weight - (known_gone[j] - gone[j]));
    }
    return total;
}

double FeatureVarianceScan::gain_of(const double* left, double weight) const {
    return squares(left, weight) + squares_of_rest(left, weight) - known_squares_;
}

void FeatureVarianceScan::begin_values(std::size_t n_values,
                                       std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * width(), 0.0);
    value_weight_.assign(n_values, 0.0);
}

void FeatureVarianceScan::add(std::size_t value, std::uint32_t entry) {
    add_to(value_sums_.data() + value * width(), entry);
    value_weight_[value] += weights_[entry];
}

void FeatureVarianceScan::complete(std::size_t value) {
    if (value < value_weight_.size()) {
        subtract_others(value, known_, value_sums_, value_weight_);
    }
}

double FeatureVarianceScan::gain_with(std::size_t value) const {
    const double* sums = value_sums_.data() + value * width();
    std::vector<double> joined(width());
    for (std::size_t k = 0; k < width(); ++k) joined[k] = left_[k] + sums[k];
    return gain_of(joined.data(), left_weight_ + value_weight_[value]);
}

void FeatureVarianceScan::take(std::size_t value) {
    const double* sums = value_sums_.data() + value * width();
    for (std::size_t k = 0; k < width(); ++k) left_[k] += sums[k];
    left_weight_ += value_weight_[value];
}

double FeatureVarianceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double total = -known_squares_;
    for (const auto value : values) {
        total += squares(value_sums_.data() + value * width(), value_weight_[value]);
    }
    return total;
}

bool MixedVarianceScan::has_labels(std::uint32_t entry) const {
    const UnknownLabels& unknown = *targets_.unknown;
    return unknown.patterns.row(unknown.of_row[row_[entry]]).size() < targets_.n_labels();
}

double MixedVarianceScan::kept(double labelled, double weight) const {
    if (!clus_) return 0;
    const double rest = known_labelled_ - labelled;
    const double noise = smallest_known_share * known_labelled_;
    if (labelled > noise && rest > noise) return 0;
    const double empty = labelled > noise ? known_weight_ - weight : weight;
    return labels_.known_impurity() * empty / known_weight_;
}

void MixedVarianceScan::reset(const NodeRows& rows, const NodeLabels& labels) {
    row_ = rows.row;
    weights_ = rows.weight;
    labels_.reset(rows, labels);
    features_.reset(rows, labels);
    labels_.begin({});
    labelled_ = 0;
    double n_labelled = 0;
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
        labelled_ += labelled_weight(e);
        if (has_labels(e)) n_labelled += rows.part[e];
    }
    const double least = targets_.features->least_labelled;
    const bool enough = clus_ ? labelled_ >= least : reaches(n_labelled, least);
    pure_ = labels_.known_impurity() <= 0 || !enough;
}

void MixedVarianceScan::begin_sides(std::span<const std::uint32_t> missing) {
    known_weight_ = labels_.known_weight();
    left_weight_ = left_labelled_ = 0;
    known_labelled_ = labelled_;
    for (const auto entry : missing) known_labelled_ -= labelled_weight(entry);
}

void MixedVarianceScan::begin(std::span<const std::uint32_t> missing) {
    labels_.begin(missing);
    features_.begin(missing);
    begin_sides(missing);
}

SquaredSums MixedVarianceScan::squares_of(std::span<const std::uint32_t> missing) {
    begin({});
    for (const auto entry : missing) move(entry);
    return {gain(), known_impurity()};
}

void MixedVarianceScan::move(std::uint32_t entry) {
    labels_.move(entry);
    features_.move(entry);
    left_weight_ += weights_[entry];
    left_labelled_ += labelled_weight(entry);
}

void MixedVarianceScan::begin_values(std::size_t n_values,
                                     std::span<const std::uint32_t> missing) {
    labels_.begin_values(n_values, missing);
    features_.begin_values(n_values, missing);
    begin_sides(missing);
    value_weight_.assign(n_values, 0.0);
    value_labelled_.assign(n_values, 0.0);
}

void MixedVarianceScan::add(std::size_t value, std::uint32_t entry) {
    labels_.add(value, entry);
    features_.add(value, entry);
    value_labelled_[value] += labelled_weight(entry);
}

void MixedVarianceScan::complete(std::size_t value) {
    labels_.complete(value);
    features_.complete(value);
    for (std::size_t v = 0; v < value_weight_.size(); ++v) {
        value_weight_[v] = labels_.value_weight(v);
    }
    if (value >= value_labelled_.size()) return;
    value_labelled_[value] = 0;
    const double others = std::accumulate(value_labelled_.begin(), value_labelled_.end(), 0.0);
    value_labelled_[value] = known_labelled_ - others;
}

void MixedVarianceScan::take(std::size_t value) {
    labels_.take(value);
    features_.take(value);
    left_weight_ += value_weight_[value];
    left_labelled_ += value_labelled_[value];
}

}  // namespace ramify
