#include "criterion.hpp"

#include <algorithm>

namespace ramify {

namespace {

/// to += row; no sum across cells, so that any width of vector gives the same result.
void add_to(double* __restrict to, const double* __restrict row, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) to[k] += row[k];
}

}  // namespace

// ---- variance ------------------------------------------------------------------------------

double VarianceScan::impurity_of(std::span<const LabelSum> sums, double weight) {
    double total = 0;
    for (const auto& s : sums) total += s.label_weight * s.sum * (1 - s.sum / weight);
    return std::max(0.0, total);
}

void VarianceScan::reset(const NodeLabels& labels, std::span<const double> weights) {
    reset_base(labels, weights);
    // One cell more than labels: the fillers' own, always zero.
    const auto n_cells = std::max(labels.n_local() + 1, labels.gram_stride);
    left_.resize(n_cells);
    missing_.resize(n_cells);
}

void VarianceScan::begin(std::span<const std::uint32_t> missing) {
    gram_ = !labels_->gram.empty();
    left_weight_ = left_square_ = left_cross_ = 0;
    known_weight_ = labels_->weight;
    known_square_ = labels_->square;
    known_mass_ = labels_->mass;
    any_missing_ = !missing.empty();
    if (any_missing_) {
        double gone = 0;
        for (const auto entry : missing) {
            gone += weights_[entry];
            known_mass_ -= weights_[entry] * labels_->own[entry];
        }
        known_weight_ -= gone;
    }
    if (gram_) {
        begin_gram(missing);
    } else {
        begin_labels(missing);
    }
    known_part_ = known_weight_ > 0 ? known_square_ / known_weight_ : 0;
}

void VarianceScan::move(std::uint32_t entry) {
    if (gram_) {
        move_gram(entry);
    } else if (any_missing_) {
        move_labels<true>(entry);
    } else {
        move_labels<false>(entry);
    }
}

void VarianceScan::begin_labels(std::span<const std::uint32_t> missing) {
    std::fill_n(left_.begin(), labels_->n_local() + 1, 0.0);
    if (!any_missing_) return;
    std::fill_n(missing_.begin(), labels_->n_local() + 1, 0.0);
    for (const auto entry : missing) {
        const double v = weights_[entry];
        double sum = 0;
        for (auto k = labels_->indptr[entry]; k < labels_->indptr[entry + 1]; ++k) {
            double& cell = missing_[labels_->ids[k]];
            sum += cell;
            cell += labels_->step[k];
        }
        // Q of what is known: Q - 2 sum w T M + sum w M^2, one missing entry after the other.
        known_square_ += v * (2 * sum + v * labels_->own[entry]) - 2 * v * labels_->cross[entry];
    }
}

template <bool any_missing>
void VarianceScan::move_labels(std::uint32_t entry) {
    const auto end = labels_->indptr[entry + 1];
    const std::uint32_t* id = labels_->ids.data();
    const double* step = labels_->step.data();
    double* left = left_.data();
    const double* missing = missing_.data();
    double sum = 0;
    double out = 0;
    for (auto k = labels_->indptr[entry]; k < end; k += NodeLabels::block) {
        const auto a = id[k], b = id[k + 1], c = id[k + 2], d = id[k + 3];
        const double left_a = left[a], left_b = left[b], left_c = left[c], left_d = left[d];
        sum += (left_a + left_b) + (left_c + left_d);
        if constexpr (any_missing) out += (missing[a] + missing[b]) + (missing[c] + missing[d]);
        // Fillers come last and add zero to their own cell, whoever writes it last.
        left[a] = left_a + step[k];
        left[b] = left_b + step[k + 1];
        left[c] = left_c + step[k + 2];
        left[d] = left_d + step[k + 3];
    }
    const double v = weights_[entry];
    left_square_ += v * (2 * sum + v * labels_->own[entry]);
    left_cross_ += v * (labels_->cross[entry] - out);
    left_weight_ += v;
}

void VarianceScan::begin_gram(std::span<const std::uint32_t> missing) {
    std::fill_n(left_.begin(), labels_->gram_stride, 0.0);
    if (!any_missing_) return;
    std::fill_n(missing_.begin(), labels_->gram_stride, 0.0);
    for (const auto entry : missing) {
        known_square_ += 2 * missing_[entry] + gram_row(entry)[entry] -
                         2 * weights_[entry] * labels_->cross[entry];
        add_to(missing_.data(), gram_row(entry), labels_->gram_stride);
    }
}

void VarianceScan::move_gram(std::uint32_t entry) {
    const double* row = gram_row(entry);
    left_square_ += 2 * left_[entry] + row[entry];
    left_cross_ += weights_[entry] * labels_->cross[entry];
    if (any_missing_) left_cross_ -= missing_[entry];
    left_weight_ += weights_[entry];
    add_to(left_.data(), row, labels_->gram_stride);
}

void VarianceScan::begin_values(std::size_t n_values, std::span<const std::uint32_t> missing) {
    begin(missing);
    if (gram_) {
        // Categories are summed by labels whatever serves the numeric features.
        known_square_ = labels_->square;
        begin_labels(missing);
        gram_ = false;
    }
    value_sums_.assign(n_values * labels_->n_local(), 0.0);
    value_square_.assign(n_values, 0.0);
    value_cross_.assign(n_values, 0.0);
    value_weight_.assign(n_values, 0.0);
}

void VarianceScan::add(std::size_t value, std::uint32_t entry) {
    const double v = weights_[entry];
    double* sums = value_sums_.data() + value * labels_->n_local();
    double sum = 0;
    double cross = labels_->cross[entry];
    for (const auto id : ids(entry)) {
        sum += labels_->label_weight[id] * sums[id];
        sums[id] += v;
        if (any_missing_) cross -= missing_[id];
    }
    value_square_[value] += v * (2 * sum + v * labels_->own[entry]);
    value_cross_[value] += v * cross;
    value_weight_[value] += v;
}

double VarianceScan::square_with(std::size_t value) const {
    const double* sums = value_sums_.data() + value * labels_->n_local();
    double both = 0;
    for (std::size_t id = 0; id < labels_->n_local(); ++id) both += left_[id] * sums[id];
    return left_square_ + 2 * both + value_square_[value];
}

double VarianceScan::gain_with(std::size_t value) const {
    return gain_of(square_with(value), left_cross_ + value_cross_[value],
                   left_weight_ + value_weight_[value]);
}

void VarianceScan::take(std::size_t value) {
    left_square_ = square_with(value);
    left_cross_ += value_cross_[value];
    left_weight_ += value_weight_[value];
    const double* sums = value_sums_.data() + value * labels_->n_local();
    for (std::size_t id = 0; id < labels_->n_local(); ++id) {
        left_[id] += labels_->label_weight[id] * sums[id];
    }
}

double VarianceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = -known_part_;
    for (const auto value : values) gain += value_square_[value] / value_weight_[value];
    return gain;
}

// ---- entropy -------------------------------------------------------------------------------

XLog2X::XLog2X() : table_(4096) {
    for (std::size_t x = 2; x < table_.size(); ++x) {
        table_[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
    }
}

template <bool exclusive>
double EntropyScan<exclusive>::impurity_of(std::span<const LabelSum> sums, double weight) {
    const auto term = [](double x) { return x > 0 ? x * std::log2(x) : 0; };
    double total = exclusive ? term(weight) : 0;
    for (const auto& s : sums) {
        if constexpr (exclusive) {
            total -= term(s.sum);
        } else {
            total += s.label_weight * (term(weight) - term(s.sum) - term(weight - s.sum));
        }
    }
    return std::max(0.0, total);
}

template <bool exclusive>
template <typename Sum>
double EntropyScan<exclusive>::impurity(Sum sum, double weight) const {
    const std::size_t n = labels_->n_local();
    const double whole = xlog2x_(weight);
    double total = exclusive ? whole : 0;
    for (std::size_t id = 0; id < n; ++id) {
        const double positive = sum(id);
        if constexpr (exclusive) {
            total -= xlog2x_(positive);
        } else {
            total += labels_->label_weight[id] *
                     (whole - xlog2x_(positive) - xlog2x_(weight - positive));
        }
    }
    return total;
}

template <bool exclusive>
void EntropyScan<exclusive>::reset(const NodeLabels& labels, std::span<const double> weights) {
    reset_base(labels, weights);
    left_.resize(labels.n_local());
}

template <bool exclusive>
void EntropyScan<exclusive>::begin(std::span<const std::uint32_t> missing) {
    std::fill(left_.begin(), left_.end(), 0.0);
    known_ = labels_->label_total;
    known_weight_ = labels_->weight;
    left_weight_ = 0;
    double gone = 0;
    for (const auto entry : missing) {
        for (const auto id : ids(entry)) known_[id] -= weights_[entry];
        gone += weights_[entry];
    }
    known_weight_ -= gone;
    known_impurity_ = impurity([this](std::size_t id) { return known_[id]; }, known_weight_);
    left_terms_ = right_terms_ = 0;
    if constexpr (exclusive) {
        for (const double sum : known_) right_terms_ += xlog2x_(sum);
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::move(std::uint32_t entry) {
    const double v = weights_[entry];
    for (const auto id : ids(entry)) {
        if constexpr (exclusive) {
            left_terms_ += xlog2x_(left_[id] + v) - xlog2x_(left_[id]);
            right_terms_ += xlog2x_(known_[id] - left_[id] - v) - xlog2x_(known_[id] - left_[id]);
        }
        left_[id] += v;
    }
    left_weight_ += v;
}

template <bool exclusive>
double EntropyScan<exclusive>::gain() const {
    const double rest = known_weight_ - left_weight_;
    if constexpr (exclusive) {
        return known_impurity_ - (xlog2x_(left_weight_) - left_terms_) -
               (xlog2x_(rest) - right_terms_);
    }
    return known_impurity_ - impurity([this](std::size_t id) { return left_[id]; }, left_weight_) -
           impurity([this](std::size_t id) { return known_[id] - left_[id]; }, rest);
}

template <bool exclusive>
void EntropyScan<exclusive>::begin_values(std::size_t n_values,
                                          std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * labels_->n_local(), 0.0);
    value_weight_.assign(n_values, 0.0);
}

template <bool exclusive>
void EntropyScan<exclusive>::add(std::size_t value, std::uint32_t entry) {
    double* sums = value_sums_.data() + value * labels_->n_local();
    for (const auto id : ids(entry)) sums[id] += weights_[entry];
    value_weight_[value] += weights_[entry];
}

template <bool exclusive>
double EntropyScan<exclusive>::gain_with(std::size_t value) const {
    const double* sums = value_sums(value);
    const double weight = left_weight_ + value_weight_[value];
    return known_impurity_ -
           impurity([&](std::size_t id) { return left_[id] + sums[id]; }, weight) -
           impurity([&](std::size_t id) { return known_[id] - left_[id] - sums[id]; },
                    known_weight_ - weight);
}

template <bool exclusive>
void EntropyScan<exclusive>::take(std::size_t value) {
    const double* sums = value_sums(value);
    for (std::size_t id = 0; id < left_.size(); ++id) {
        if constexpr (exclusive) {
            const double right = known_[id] - left_[id];
            left_terms_ += xlog2x_(left_[id] + sums[id]) - xlog2x_(left_[id]);
            right_terms_ += xlog2x_(right - sums[id]) - xlog2x_(right);
        }
        left_[id] += sums[id];
    }
    left_weight_ += value_weight_[value];
}

template <bool exclusive>
double EntropyScan<exclusive>::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = known_impurity_;
    for (const auto value : values) {
        const double* sums = value_sums(value);
        gain -= impurity([&](std::size_t id) { return sums[id]; }, value_weight_[value]);
    }
    return gain;
}

template class EntropyScan<false>;
template class EntropyScan<true>;

}  // namespace ramify
