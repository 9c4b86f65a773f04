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
    label_weights_listed_ = false;
    // Fillers have cells too, which are always zero.
    const auto n_cells = std::max(labels.n_local() + NodeLabels::n_fillers, labels.kernel.stride);
    left_.resize(n_cells);
    missing_.resize(n_cells);
    known_cross_.resize(labels.kernel.stride);
    if (!labels.kernel.empty()) return;
    moves_.reset(labels, weights_);
}

void VarianceScan::begin(std::span<const std::uint32_t> missing) {
    begin_weights(missing);
    by_kernel_ = !labels_->kernel.empty();
    if (by_kernel_) {
        begin_kernel(missing);
    } else {
        begin_labels(missing);
        moves_.begin(any_missing_ ? missing_.data() : nullptr);
    }
    known_part_ = known_weight_ > 0 ? known_square_ / known_weight_ : 0;
}

void VarianceScan::begin_weights(std::span<const std::uint32_t> missing) {
    left_weight_ = left_square_ = left_cross_ = 0;
    any_missing_ = !missing.empty();
    double gone = 0;
    for (const auto entry : missing) gone += weights_[entry];
    known_weight_ = labels_->weight - gone;
}

void VarianceScan::begin_labels(std::span<const std::uint32_t> missing) {
    known_square_ = labels_->square;
    known_mass_ = labels_->mass;
    if (!any_missing_) return;
    std::fill_n(missing_.begin(), labels_->n_local() + NodeLabels::n_fillers, 0.0);
    for (const auto entry : missing) {
        const double v = weights_[entry];
        double sum = 0;
        for (const auto id : ids(entry)) {
            sum += missing_[id];
            missing_[id] += v * labels_->label_weight[id];
        }
        known_mass_ -= v * labels_->own[entry];
        // Q of what is known: Q - 2 sum w T M + sum w M^2, one missing entry after the other.
        known_square_ += v * (2 * sum + v * labels_->own[entry]) - 2 * v * labels_->cross[entry];
    }
}

void VarianceScan::begin_kernel(std::span<const std::uint32_t> missing) {
    const Kernel& kernel = labels_->kernel;
    known_square_ = kernel.square;
    known_mass_ = kernel.mass;
    std::fill_n(left_.begin(), kernel.stride, 0.0);
    if (!any_missing_) return;
    std::fill_n(missing_.begin(), kernel.stride, 0.0);
    for (const auto entry : missing) {
        const double v = weights_[entry];
        const double own = kernel.row(entry)[entry];
        known_mass_ -= v * own;
        known_square_ += v * (2 * missing_[entry] + v * own) - 2 * v * kernel.cross[entry];
        add_scaled(missing_.data(), kernel.row(entry), v, kernel.stride);
    }
    for (std::size_t e = 0; e < kernel.stride; ++e) {
        known_cross_[e] = kernel.cross[e] - missing_[e];
    }
}

void VarianceScan::move(std::uint32_t entry) {
    const RankedEntry item{entry, 0};
    double weight = weights_[entry];
    double square = 0;
    double cross = 0;
    if (by_kernel_) {
        move_items({&item, 1}, &square, &cross);
    } else {
        moves_.list({&item, 1}, &weight, &square, &cross);
        moves_.move_listed(1, &square, &cross);
    }
    left_square_ += square;
    left_cross_ += cross;
    left_weight_ += weight;
}

std::size_t VarianceScan::sum_up(std::span<const RankedEntry> items, const SweepLimits& limits) {
    if (limits.unit) {
        items = items.first(prefix_.count(items.size(), known_weight_, limits));
    } else if (by_kernel_) {
        items = items.first(prefix_.weigh(items, weights_, known_weight_, limits));
    }
    prefix_.make_room(items.size());
    double* square = prefix_.square.data();
    double* cross = prefix_.cross.data();
    if (by_kernel_) {
        move_items(items, square, cross);
        return items.size();
    }
    // Weights of 1 add up to the numbers that were counted: the list writes the same again.
    moves_.list(items, prefix_.weight.data(), square, cross);
    if (!limits.unit) items = items.first(prefix_.cut(items, known_weight_, limits));
    moves_.move_listed(items.size(), square, cross);
    return items.size();
}

void VarianceScan::move_items(std::span<const RankedEntry> items, double* square, double* cross) {
    const Kernel& kernel = labels_->kernel;
    const auto& known_cross = any_missing_ ? known_cross_ : kernel.cross;
    const KernelMoves moves{kernel.cells.data(), kernel.stride, known_cross.data(),
                            weights_.data(), left_.data()};
    move_by_kernel(moves, items.data(), items.size(), square, cross);
}

void VarianceScan::begin_values(std::size_t n_values, std::span<const std::uint32_t> missing) {
    begin_weights(missing);
    value_weight_.assign(n_values, 0.0);
    value_cross_.assign(n_values, 0.0);
    value_products_.assign(n_values * n_values, 0.0);
    left_products_.assign(n_values, 0.0);
    added_.clear();
    by_kernel_ = !as_clus_ && !labels_->kernel.empty();
    if (by_kernel_) {
        begin_kernel(missing);
        value_sums_.assign(n_values * labels_->kernel.stride, 0.0);
    } else {
        begin_labels(missing);
        if (as_clus_) begin_values_as_clus(n_values, missing);
    }
    known_part_ = known_weight_ > 0 ? known_square_ / known_weight_ : 0;
}

void VarianceScan::begin_values_as_clus(std::size_t n_values,
                                        std::span<const std::uint32_t> missing) {
    const std::size_t n_local = labels_->n_local();
    std::fill_n(left_.begin(), n_local, 0.0);
    // Missing entries are summed up first and subtracted at once.
    known_.assign(n_local, 0.0);
    for (const auto entry : missing) {
        for (const auto id : ids(entry)) known_[id] += weights_[entry];
    }
    for (std::size_t id = 0; id < n_local; ++id)
        known_[id] = labels_->label_total[id] - known_[id];
    value_sums_.assign(n_values * n_local, 0.0);
}

/// Sum over the known entries of v times their product with this one.
double VarianceScan::known_cross(std::uint32_t entry) const {
    if (by_kernel_) return any_missing_ ? known_cross_[entry] : labels_->kernel.cross[entry];
    double cross = labels_->cross[entry];
    if (any_missing_) {
        for (const auto id : ids(entry)) cross -= missing_[id];
    }
    return cross;
}

void VarianceScan::add(std::size_t value, std::uint32_t entry) {
    const double v = weights_[entry];
    value_weight_[value] += v;
    value_cross_[value] += v * known_cross(entry);
    added_.push_back({static_cast<std::uint32_t>(value), entry});
    if (by_kernel_) {
        const Kernel& kernel = labels_->kernel;
        double* sums = value_sums_.data() + value * kernel.stride;
        add_scaled(sums, kernel.row(entry), v, kernel.stride);
    } else if (as_clus_) {
        double* sums = value_sums_.data() + value * labels_->n_local();
        for (const auto id : ids(entry)) sums[id] += v;
    }
}

void VarianceScan::complete(std::size_t value) {
    if (as_clus_) {
        complete_as_clus(value);
        return;
    }
    if (by_kernel_) {
        multiply_by_kernel();
    } else {
        multiply_by_labels();
    }
    if (value < value_weight_.size()) leave_rest_to(value);
}

void VarianceScan::complete_as_clus(std::size_t value) {
    const std::size_t n_values = value_weight_.size();
    if (value < n_values) subtract_others(value, known_, value_sums_, value_weight_);
    for (std::size_t v = 0; v < n_values; ++v) {
        const double* sums = value_sums_.data() + v * labels_->n_local();
        double square = 0;
        for (std::size_t id = 0; id < labels_->n_local(); ++id) {
            square += labels_->label_weight[id] * sums[id] * sums[id];
        }
        value_products_[v * n_values + v] = square;
    }
}

/// The products of all pairs of categories, as sums over pairs of entries: each entry meets the
/// sums of those before it. Only labels of the entries that were added take part, and rows of sums
/// are zero again afterwards: where one category has most of the rows, it is not added.
void VarianceScan::multiply_by_labels() {
    constexpr std::size_t block = 4;
    const std::size_t n_values = value_weight_.size();
    const std::size_t stride = (n_values + block - 1) / block * block;
    const std::size_t n_sums = (labels_->n_local() + NodeLabels::n_fillers) * stride;
    if (label_sums_.size() < n_sums) label_sums_.resize(n_sums, 0.0);
    if (!label_weights_listed_) labels_->list_weights(label_weight_);
    label_weights_listed_ = true;
    met_.assign(n_values * stride, 0.0);
    std::size_t n_seen = 0;
    for (const auto& [value, entry] : added_) {
        const double v = weights_[entry];
        const auto begin = labels_->indptr[entry];
        const auto end = labels_->indptr[entry + 1];
        n_seen += end - begin;
        for (std::size_t first = 0; first < stride; first += block) {
            double met[block] = {};
            for (auto k = begin; k < end; ++k) {
                const auto id = labels_->ids[k];
                const double* sums = label_sums_.data() + id * stride + first;
                for (std::size_t u = 0; u < block; ++u) met[u] += label_weight_[id] * sums[u];
            }
            double* row = met_.data() + value * stride + first;
            for (std::size_t u = 0; u < block; ++u) row[u] += v * met[u];
        }
        for (auto k = begin; k < end; ++k) label_sums_[labels_->ids[k] * stride + value] += v;
        value_products_[value * n_values + value] += v * v * labels_->own[entry];
    }
    for (std::size_t v = 0; v < n_values; ++v) {
        for (std::size_t u = 0; u < n_values; ++u) {
            value_products_[v * n_values + u] += met_[v * stride + u] + met_[u * stride + v];
        }
    }
    forget_label_sums(n_seen, stride);
}

void VarianceScan::forget_label_sums(std::size_t n_seen, std::size_t stride) {
    const std::size_t n_labels = labels_->n_local() + NodeLabels::n_fillers;
    if (n_seen > n_labels) {
        std::fill_n(label_sums_.begin(), n_labels * stride, 0.0);
        return;
    }
    for (const auto& [value, entry] : added_) {
        for (auto k = labels_->indptr[entry]; k < labels_->indptr[entry + 1]; ++k) {
            label_sums_[labels_->ids[k] * stride + value] = 0;
        }
    }
}

void VarianceScan::multiply_by_kernel() {
    const std::size_t n_values = value_weight_.size();
    const std::size_t stride = labels_->kernel.stride;
    for (const auto& [own, entry] : added_) {
        double* products = value_products_.data() + own * n_values;
        for (std::size_t v = 0; v < n_values; ++v) {
            products[v] += weights_[entry] * value_sums_[v * stride + entry];
        }
    }
}

/// A category's product with all known entries is its cross sum, which gives the products of the
/// one category that was not added.
void VarianceScan::leave_rest_to(std::size_t value) {
    const std::size_t n_values = value_weight_.size();
    value_weight_[value] = known_weight_;
    value_cross_[value] = known_square_;
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

/// As CLUS adds up: SS(T') - (SS(P) + SS(N)), each a sum over the labels in their order, divided
/// by the number of labels, N being what P leaves of T'. Categories that divide a node alike
/// differ in rounding only, and CLUS takes a later one if its gain comes out larger.
double VarianceScan::gain_as_clus(std::size_t value) const {
    const std::size_t n_local = labels_->n_local();
    const double* sums = value_sums_.data() + value * n_local;
    const double weight = left_weight_ + value_weight_[value];
    const double rest_weight = known_weight_ - weight;
    double whole = 0;
    double part = 0;
    double rest = 0;
    for (std::size_t id = 0; id < n_local; ++id) {
        const double all = known_[id];
        const double here = left_[id] + sums[id];
        const double there = all - here;
        whole += labels_->label_weight[id] * (all - all * all / known_weight_);
        part += labels_->label_weight[id] * (here - here * here / weight);
        rest += labels_->label_weight[id] * (there - there * there / rest_weight);
    }
    return (whole / n_labels_ - (part / n_labels_ + rest / n_labels_)) * n_labels_;
}

double VarianceScan::gain_with(std::size_t value) const {
    if (as_clus_) return gain_as_clus(value);
    return gain_of(square_with(value), left_cross_ + value_cross_[value],
                   left_weight_ + value_weight_[value]);
}

void VarianceScan::take(std::size_t value) {
    left_square_ = square_with(value);
    left_cross_ += value_cross_[value];
    left_weight_ += value_weight_[value];
    const std::size_t n_values = value_weight_.size();
    for (std::size_t v = 0; v < n_values; ++v) {
        left_products_[v] += value_products_[value * n_values + v];
    }
    if (!as_clus_) return;
    const double* sums = value_sums_.data() + value * labels_->n_local();
    for (std::size_t id = 0; id < labels_->n_local(); ++id) left_[id] += sums[id];
}

double VarianceScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = -known_part_;
    for (const auto value : values) gain += value_square(value) / value_weight_[value];
    return gain;
}

}  // namespace ramify
