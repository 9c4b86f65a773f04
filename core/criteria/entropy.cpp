#include "criteria/entropy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ramify {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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
            const double negative = sums_both_ ? sum(n + id) : weight - positive;
            if (sums_both_ && (positive < 0 || negative < 0)) return not_a_number;
            total += labels_->label_weight[id] * (whole - xlog2x_(positive) - xlog2x_(negative));
        }
    }
    return total;
}

template <bool exclusive>
void EntropyScan<exclusive>::reset(const NodeRows& rows, const NodeLabels& labels) {
    reset_base(rows, labels);
    // Sums of weights that are all 1 are exact: none of them comes out negative.
    sums_both_ =
        !exclusive && clus_ && std::ranges::any_of(weights_, [](double w) { return w != 1; });
    const auto is_whole = [](double w) { return w == std::floor(w); };
    at_once_ =
        !exclusive && !clus_ && labels.n_local() > 1 && !std::ranges::all_of(weights_, is_whole);
    if (at_once_) entropies_.reset(labels.label_weight);
    left_.resize(width());
    if (sums_both_) {
        node_.assign(width(), 0.0);
        for (std::uint32_t e = 0; e < weights_.size(); ++e) add_both(e, node_.data());
    }
    node_term_.clear();
    list_classes();
}

template <bool exclusive>
void EntropyScan<exclusive>::list_classes() {
    classes_.clear();
    if (!exclusive && labels_->n_local() != 1) return;
    classes_.resize(weights_.size());
    for (std::uint32_t entry = 0; entry < classes_.size(); ++entry) {
        const auto labels = labels_->ids_of(entry);
        classes_[entry] = labels.empty() ? -1 : static_cast<std::int32_t>(labels.front());
        if (exclusive && labels.empty()) {  // the formula requires one class per entry
            classes_.clear();
            return;
        }
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::begin(std::span<const std::uint32_t> missing) {
    std::fill(left_.begin(), left_.end(), 0.0);
    known_weight_ = labels_->weight;
    left_weight_ = 0;
    double gone = 0;
    for (const auto entry : missing) gone += weights_[entry];
    known_weight_ -= gone;
    set_known(missing);
    if constexpr (exclusive) {
        begin_terms(missing.empty());
    } else {
        known_impurity_ = impurity([this](std::size_t id) { return known_[id]; }, known_weight_);
        if (at_once_) entropies_.begin(known_);
    }
}

template <bool exclusive>
SquaredSums EntropyScan<exclusive>::squares_of(std::span<const std::uint32_t> missing) {
    std::vector<double> gone(labels_->n_local(), 0.0);
    double gone_weight = 0;
    for (const auto entry : missing) {
        for (const auto id : labels_->ids_of(entry)) gone[id] += weights_[entry];
        gone_weight += weights_[entry];
    }
    const double weight = labels_->weight;
    SquaredSums sums{0, 0};
    for (std::size_t id = 0; id < gone.size(); ++id) {
        const double all = labels_->label_total[id];
        const double rest = all - gone[id];
        const double part = all * all / weight;
        const double parts =
            gone[id] * gone[id] / gone_weight + rest * rest / (weight - gone_weight);
        sums.removed += labels_->label_weight[id] * (parts - part);
        sums.whole += labels_->label_weight[id] * (all - part);
    }
    return sums;
}

template <bool exclusive>
void EntropyScan<exclusive>::set_known(std::span<const std::uint32_t> missing) {
    if (!sums_both_) {
        known_ = labels_->label_total;
        for (const auto entry : missing) {
            for (const auto id : labels_->ids_of(entry)) known_[id] -= weights_[entry];
        }
        return;
    }
    known_.assign(width(), 0.0);
    for (const auto entry : missing) add_both(entry, known_.data());
    for (std::size_t k = 0; k < width(); ++k) known_[k] = node_[k] - known_[k];
}

template <bool exclusive>
void EntropyScan<exclusive>::add_both(std::uint32_t entry, double* sums) {
    const std::size_t n = labels_->n_local();
    has_.assign(n, 0);
    for (const auto id : labels_->ids_of(entry)) has_[id] = 1;
    for (std::size_t id = 0; id < n; ++id) sums[has_[id] ? id : n + id] += weights_[entry];
}

template <bool exclusive>
void EntropyScan<exclusive>::begin_terms(bool whole_node) {
    left_term_.assign(known_.size(), 0.0);
    if (whole_node && node_term_.size() == known_.size()) {
        right_term_ = node_term_;
    } else {
        right_term_ = known_;
        replace_by_xlog2x(right_term_.data(), right_term_.size());
        if (whole_node) node_term_ = right_term_;
    }
    left_terms_ = right_terms_ = 0;
    for (const double term : right_term_) right_terms_ += term;
    known_impurity_ = xlog2x_(known_weight_) - right_terms_;
}

template <bool exclusive>
void EntropyScan<exclusive>::move(std::uint32_t entry) {
    const double v = weights_[entry];
    left_weight_ += v;
    if (sums_both_) {
        add_both(entry, left_.data());
        return;
    }
    for (const auto id : labels_->ids_of(entry)) {
        if constexpr (exclusive) {
            move_class(id, v);
        } else if (at_once_) {
            entropies_.move(id, v);
        } else {
            left_[id] += v;
        }
    }
}

template <bool exclusive>
double EntropyScan<exclusive>::gain() const {
    const double rest = known_weight_ - left_weight_;
    if constexpr (exclusive) {
        return known_impurity_ - (xlog2x_(left_weight_) - left_terms_) -
               (xlog2x_(rest) - right_terms_);
    }
    if (at_once_) return known_impurity_ - entropies_.impurity(left_weight_, known_weight_);
    return known_impurity_ - impurity([this](std::size_t id) { return left_[id]; }, left_weight_) -
           impurity([this](std::size_t id) { return known_[id] - left_[id]; }, rest);
}

template <bool exclusive>
void EntropyScan<exclusive>::make_room(std::size_t n) {
    if constexpr (exclusive) {
        if (crossed_.size() >= n) return;
        n_crossed_.resize(n);
        crossed_.resize(n);
        sides_.resize(2 * n);
    } else if (positive_.size() < n) {
        positive_.resize(n);
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::write_gains() {
    if (candidates_.empty()) return;
    gains_.resize(candidates_.size());
    if constexpr (exclusive) {
        write_class_gains();
    } else {
        write_label_gains();
    }
}

/// Either side has its weight, and that with and without the label.
template <bool exclusive>
void EntropyScan<exclusive>::write_label_gains() {
    constexpr std::size_t n_terms = 6;
    const std::size_t n = candidates_.size();
    terms_.resize(n_terms * n);
    double* term = terms_.data();
    for (std::size_t i = 0; i < n; ++i, term += n_terms) {
        const double left = candidates_[i].left;
        const double rest = known_weight_ - left;
        const double rest_positive = known_[0] - positive_[i];
        term[0] = left;
        term[1] = positive_[i];
        term[2] = left - positive_[i];
        term[3] = rest;
        term[4] = rest_positive;
        term[5] = rest - rest_positive;
    }
    replace_by_xlog2x(terms_.data(), terms_.size());
    term = terms_.data();
    for (std::size_t i = 0; i < n; ++i, term += n_terms) {
        const double of_left = term[0] - term[1] - term[2];
        const double of_rest = term[3] - term[4] - term[5];
        gains_[i] = known_impurity_ - labels_->label_weight[0] * of_left -
                    labels_->label_weight[0] * of_rest;
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::write_class_gains() {
    const std::size_t n = candidates_.size();
    terms_.resize(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        terms_[2 * i] = candidates_[i].left;
        terms_[2 * i + 1] = known_weight_ - candidates_[i].left;
    }
    replace_by_xlog2x(terms_.data(), terms_.size());
    replace_by_xlog2x(sides_.data(), 2 * n_crossed_[n - 1]);
    std::size_t next = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (; next < n_crossed_[i]; ++next) {
            set_terms(static_cast<std::size_t>(crossed_[next]), sides_[2 * next],
                      sides_[2 * next + 1]);
        }
        gains_[i] =
            known_impurity_ - (terms_[2 * i] - left_terms_) - (terms_[2 * i + 1] - right_terms_);
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::begin_values(std::size_t n_values,
                                          std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * width(), 0.0);
    value_weight_.assign(n_values, 0.0);
}

template <bool exclusive>
void EntropyScan<exclusive>::add(std::size_t value, std::uint32_t entry) {
    double* sums = value_sums_.data() + value * width();
    value_weight_[value] += weights_[entry];
    if (sums_both_) {
        add_both(entry, sums);
    } else {
        for (const auto id : labels_->ids_of(entry)) sums[id] += weights_[entry];
    }
}

template <bool exclusive>
void EntropyScan<exclusive>::complete(std::size_t value) {
    if (value < value_weight_.size()) {
        subtract_others(value, known_, value_sums_, value_weight_);
    }
}

template <bool exclusive>
double EntropyScan<exclusive>::gain_with(std::size_t value) const {
    const double* sums = value_sums(value);
    const double weight = left_weight_ + value_weight_[value];
    return known_impurity_ -
           impurity([&](std::size_t id) { return left_[id] + sums[id]; }, weight) -
           impurity([&](std::size_t id) { return known_[id] - (left_[id] + sums[id]); },
                    known_weight_ - weight);
}

template <bool exclusive>
void EntropyScan<exclusive>::take(std::size_t value) {
    const double* sums = value_sums(value);
    for (std::size_t id = 0; id < left_.size(); ++id) {
        if constexpr (exclusive) {
            move_class(id, sums[id]);
        } else {
            left_[id] += sums[id];
            if (at_once_) entropies_.move(id, sums[id]);
        }
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
