#include "criteria/few_labels.hpp"

#include <algorithm>

#include "criteria/variance.hpp"

namespace ramify {

double FewLabelsScan::impurity_of(std::span<const LabelSum> sums, double weight) {
    return VarianceScan::impurity_of(sums, weight);
}

bool FewLabelsScan::suits(const Targets& targets, std::span<const std::uint32_t> rows) {
    return targets.n_labels() > 0 && targets.n_labels() <= max_labels &&
           std::ranges::all_of(
               rows, [&](auto row) { return targets.labels.row(row).size() <= max_width; });
}

FewLabelsScan::FewLabelsScan(const Targets& targets)
    : label_weight_(targets.label_weight.begin(), targets.label_weight.end()) {
    const std::size_t n_labels = label_weight_.size();
    const std::size_t n_rows = targets.labels.n_rows();
    label_weight_.resize(n_labels + max_width, 0.0);
    for (std::size_t r = 0; r < n_rows; ++r) {
        const auto n = std::min(targets.labels.row(r).size(), max_width);
        width_ = std::max(width_, n > 2 ? max_width : n);
    }
    of_row_.resize(n_rows * width_);
    auto to = of_row_.begin();
    for (std::size_t r = 0; r < n_rows; ++r) {
        const auto labels = targets.labels.row(r);
        for (std::size_t t = 0; t < width_; ++t) {
            *to++ = static_cast<Id>(t < labels.size() ? static_cast<std::size_t>(labels[t])
                                                      : n_labels + t);
        }
    }
    for (auto* sums : {&totals_, &known_totals_, &left_, &weighted_, &known_weighted_,
                       &missing_sums_, &moved_, &joined_, &node_label_weight_}) {
        sums->resize(label_weight_.size());
    }
    counts_.resize(4 * label_weight_.size());
}

void FewLabelsScan::reset(const NodeRows& rows, const NodeLabels&) {
    weights_ = rows.weight;
    const std::size_t n = rows.size();
    ids_.make_room(n * width_);
    std::ranges::fill(totals_, 0.0);
    Id* to = ids_.data();
    double weight = 0;
    for (std::size_t e = 0; e < n; ++e) {
        const Id* from = of_row_.data() + rows.row[e] * width_;
        const double v = weights_[e];
        weight += v;
        for (std::size_t t = 0; t < width_; ++t) {
            *to++ = from[t];
            totals_[from[t]] += v;
        }
    }
    node_mass_ = 0;
    double square = 0;
    for (std::size_t c = 0; c < totals_.size(); ++c) {
        // Whatever rounding makes of its sums, a label that all entries have is in no gain.
        node_label_weight_[c] = totals_[c] == weight ? 0 : label_weight_[c];
        weighted_[c] = node_label_weight_[c] * totals_[c];
        node_mass_ += weighted_[c];
        square += weighted_[c] * totals_[c];
    }
    node_ = {square, weight, square / weight};
    all_known_ = false;
}

/// All values are known.
void FewLabelsScan::begin_known() {
    if (all_known_) return;
    all_known_ = true;
    known_weight_ = node_.weight;
    known_ = node_;
    known_mass_ = node_mass_;
    known_totals_ = totals_;
    known_weighted_ = weighted_;
    missing_ = {};
}

void FewLabelsScan::begin(std::span<const std::uint32_t> missing) {
    std::ranges::fill(left_, 0.0);
    left_weight_ = left_square_ = left_cross_ = 0;
    begin_known();
    if (missing.empty()) return;
    all_known_ = false;
    std::ranges::fill(missing_sums_, 0.0);
    for (const auto entry : missing) {
        add_to(missing_sums_.data(), entry);
        missing_.weight += weights_[entry];
    }
    known_weight_ -= missing_.weight;
    known_mass_ = 0;
    double square = 0;
    for (std::size_t c = 0; c < missing_sums_.size(); ++c) {
        const double sum = missing_sums_[c];
        missing_sums_[c] = node_label_weight_[c] * sum;
        missing_.square += missing_sums_[c] * sum;
        missing_.cross += missing_sums_[c] * totals_[c];
        known_totals_[c] = totals_[c] - sum;
        known_weighted_[c] = node_label_weight_[c] * known_totals_[c];
        known_mass_ += known_weighted_[c];
        square += known_weighted_[c] * known_totals_[c];
    }
    known_ = {square, known_weight_, known_weight_ > 0 ? square / known_weight_ : 0};
}

void FewLabelsScan::move(std::uint32_t entry) {
    const double v = weights_[entry];
    for (std::size_t t = 0; t < width_; ++t) {
        const auto id = ids_of(entry)[t];
        left_square_ += node_label_weight_[id] * v * (2 * left_[id] + v);
        left_cross_ += v * known_weighted_[id];
        left_[id] += v;
    }
    left_weight_ += v;
}

void FewLabelsScan::move_side(std::span<const RankedEntry> items, std::uint32_t last, bool upward,
                              bool unit) {
    if (unit && width_ <= 2) {
        width_ == 1 ? count_side<1>(items, last, upward) : count_side<2>(items, last, upward);
        sum_left();
        return;
    }
    for (const auto& item : items) {
        const double v = (item.rank <= last) != upward ? weights_[item.entry] : 0.0;
        for (std::size_t t = 0; t < width_; ++t) left_[ids_of(item.entry)[t]] += v;
        left_weight_ += v;
    }
    sum_left();
}

/// Neighbouring entries are counted apart, so that none waits for the one before.
template <std::size_t width>
void FewLabelsScan::count_side(std::span<const RankedEntry> items, std::uint32_t last,
                               bool upward) {
    const std::size_t n_cells = label_weight_.size();
    std::ranges::fill(counts_, 0u);
    std::uint32_t* one = counts_.data();
    std::uint32_t* other = one + 2 * n_cells;
    const Id* ids = ids_.data();
    std::size_t n_upper = 0;
    const auto count = [&](std::uint32_t* to, const RankedEntry& item) {
        const std::size_t upper = item.rank <= last;
        n_upper += upper;
        for (std::size_t t = 0; t < width; ++t) {
            ++to[upper * n_cells + ids[item.entry * width + t]];
        }
    };
    std::size_t k = 0;
    for (; k + 2 <= items.size(); k += 2) {
        count(one, items[k]);
        count(other, items[k + 1]);
    }
    if (k < items.size()) count(one, items[k]);
    const std::size_t side = upward ? 0 : n_cells;
    for (std::size_t c = 0; c < n_cells; ++c) {
        left_[c] = static_cast<double>(one[side + c] + other[side + c]);
    }
    left_weight_ = static_cast<double>(upward ? items.size() - n_upper : n_upper);
}

double FewLabelsScan::square_of(const double* sums) const {
    double square = 0;
    for (std::size_t c = 0; c < n_labels(); ++c) {
        square += node_label_weight_[c] * sums[c] * sums[c];
    }
    return square;
}

double FewLabelsScan::cross_of(const double* sums) const {
    double cross = 0;
    for (std::size_t c = 0; c < n_labels(); ++c) cross += known_weighted_[c] * sums[c];
    return cross;
}

std::size_t FewLabelsScan::move_items(std::span<const RankedEntry> items, const double* totals,
                                      double known_weight, const SweepLimits& limits) {
    if (limits.unit) items = items.first(prefix_.count(items.size(), known_weight, limits));
    prefix_.make_room(items.size());
    std::ranges::fill(moved_, 0.0);
    switch (width_) {
        case 1:
            sum_items<1>(items, totals);
            break;
        case 2:
            sum_items<2>(items, totals);
            break;
        default:
            sum_items<max_width>(items, totals);
    }
    // Weights of 1 add up to the numbers that were counted.
    return limits.unit ? items.size() : prefix_.cut(items, known_weight, limits);
}

template <std::size_t width>
void FewLabelsScan::sum_items(std::span<const RankedEntry> items, const double* totals) {
    const bool any_missing = missing_.weight > 0;
    double* __restrict moved = moved_.data();
    double* __restrict weights = prefix_.weight.data();
    double* __restrict squares = prefix_.square.data();
    double* __restrict crosses = prefix_.cross.data();
    const double* label_weight = node_label_weight_.data();
    double weight = 0;
    double square = 0;
    double cross = 0;
    double met = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
        const auto entry = items[k].entry;
        const double v = weights_[entry];
        const Id* id = ids_.data() + entry * width;
        double so_far = 0;
        double total = 0;
        for (std::size_t t = 0; t < width; ++t) {
            const double step = v * label_weight[id[t]];
            const double before = moved[id[t]];
            moved[id[t]] = before + step;
            so_far += 2 * before + step;
            total += totals[id[t]];
        }
        weight += v;
        square += v * so_far;
        cross += v * total;
        weights[k] = weight;
        squares[k] = square;
        crosses[k] = cross;
    }
    for (std::size_t k = 0; any_missing && k < items.size(); ++k) {
        const auto entry = items[k].entry;
        const Id* id = ids_.data() + entry * width;
        for (std::size_t t = 0; t < width; ++t) met += weights_[entry] * missing_sums_[id[t]];
        prefix_.met[k] = met;
    }
}

// ---- nominal features ----------------------------------------------------------------------

void FewLabelsScan::begin_values(std::size_t n_values, std::span<const std::uint32_t> missing) {
    begin(missing);
    value_sums_.assign(n_values * totals_.size(), 0.0);
    value_weight_.assign(n_values, 0.0);
}

void FewLabelsScan::add(std::size_t value, std::uint32_t entry) {
    add_to(value_sums_.data() + value * totals_.size(), entry);
    value_weight_[value] += weights_[entry];
}

void FewLabelsScan::complete(std::size_t value) {
    if (value < value_weight_.size()) {
        subtract_others(value, known_totals_, value_sums_, value_weight_);
    }
}

double FewLabelsScan::gain_with(std::size_t value) const {
    const double* sums = value_sums_.data() + value * totals_.size();
    for (std::size_t c = 0; c < totals_.size(); ++c) joined_[c] = left_[c] + sums[c];
    return variance_gain(known_, square_of(joined_.data()), cross_of(joined_.data()),
                         left_weight_ + value_weight_[value]);
}

void FewLabelsScan::take(std::size_t value) {
    const double* sums = value_sums_.data() + value * totals_.size();
    for (std::size_t c = 0; c < totals_.size(); ++c) left_[c] += sums[c];
    left_weight_ += value_weight_[value];
    sum_left();
}

double FewLabelsScan::gain_of_all(std::span<const std::uint32_t> values) const {
    double gain = -known_.part;
    for (const auto value : values) {
        gain += square_of(value_sums_.data() + value * totals_.size()) / value_weight_[value];
    }
    return gain;
}

}  // namespace ramify
