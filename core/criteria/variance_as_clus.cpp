#include "criteria/variance_as_clus.hpp"

namespace ramify {

void VarianceAsClus::begin(const NodeLabels& labels, std::span<const double> weights,
                           std::size_t n_categories, std::span<const std::uint32_t> missing) {
    labels_ = &labels;
    weights_ = weights;
    const std::size_t n_local = labels.n_local();
    left_.assign(n_local, 0.0);
    // Missing entries are summed up first and subtracted at once.
    known.assign(n_local, 0.0);
    for (const auto entry : missing) {
        for (const auto id : labels.ids_of(entry)) known[id] += weights[entry];
    }
    for (std::size_t id = 0; id < n_local; ++id) known[id] = labels.label_total[id] - known[id];
    sums.assign(n_categories * n_local, 0.0);
}

void VarianceAsClus::add(std::span<const CategoryEntry> entries) {
    for (const auto& [category, entry] : entries) {
        double* to = sums.data() + category * labels_->n_local();
        for (const auto id : labels_->ids_of(entry)) to[id] += weights_[entry];
    }
}

double VarianceAsClus::square(std::size_t category) const {
    double square = 0;
    for (std::size_t id = 0; id < labels_->n_local(); ++id) {
        const double sum = row(category)[id];
        square += labels_->label_weight[id] * sum * sum;
    }
    return square;
}

/// SS(T') - (SS(P) + SS(N)), each a sum over the labels in their order, divided by the number of
/// labels, N being what P leaves of T'.
double VarianceAsClus::score_with(std::size_t category, double left_weight, double known_weight,
                                  std::size_t n_labels) const {
    const double* added = row(category);
    const double rest_weight = known_weight - left_weight;
    double whole = 0;
    double part = 0;
    double rest = 0;
    for (std::size_t id = 0; id < labels_->n_local(); ++id) {
        const double all = known[id];
        const double here = left_[id] + added[id];
        const double there = all - here;
        whole += labels_->label_weight[id] * (all - all * all / known_weight);
        part += labels_->label_weight[id] * (here - here * here / left_weight);
        rest += labels_->label_weight[id] * (there - there * there / rest_weight);
    }
    const auto n = static_cast<double>(n_labels);
    return whole / n - (part / n + rest / n);
}

void VarianceAsClus::take(std::size_t category) {
    for (std::size_t id = 0; id < labels_->n_local(); ++id) left_[id] += row(category)[id];
}

}  // namespace ramify
