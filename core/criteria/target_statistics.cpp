#include "criteria/target_statistics.hpp"

#include <numbers>

namespace ramify {

void NumericStatistic::add(const double* values, double weight, double* sums) const {
    const std::size_t n = table_.n_targets();
    double* squares = sums + n;
    if (!table_.any_unknown) {
        for (std::size_t i = 0; i < n; ++i) {
            const double part = weight * values[i];
            sums[i] += part;
            squares[i] += part * values[i];
        }
        return;
    }
    double* known = squares + n;
    for (std::size_t i = 0; i < n; ++i) {
        if (std::isnan(values[i])) continue;
        const double part = weight * values[i];
        sums[i] += part;
        squares[i] += part * values[i];
        known[i] += weight;
    }
}

double NumericStatistic::impurity(const double* sums, double weight, bool) const {
    const std::size_t n = table_.n_targets();
    const double* squares = sums + n;
    double total = 0;
    if (!table_.any_unknown) {
        if (weight <= 0) return 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double spread = squares[i] - sums[i] * sums[i] / weight;
            if (spread > table_.noise * squares[i]) total += spread * table_.weight[i];
        }
        return total / static_cast<double>(n);
    }
    const double* known = squares + n;
    std::size_t n_known = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (known[i] <= smallest_known) continue;
        const double spread = squares[i] - sums[i] * sums[i] / known[i];
        if (spread > table_.noise * squares[i]) total += spread * table_.weight[i];
        ++n_known;
    }
    return n_known == 0 ? 0 : total / static_cast<double>(n_known);
}

template <bool by_entropy>
void NominalStatistic<by_entropy>::add(const double* values, double weight, double* sums) const {
    double* known = sums + table_.n_columns();
    for (std::size_t i = 0; i < table_.n_targets(); ++i) {
        if (std::isnan(values[i])) continue;
        sums[table_.first(i) + static_cast<std::size_t>(values[i])] += weight;
        if (table_.any_unknown) known[i] += weight;
    }
}

template <bool by_entropy>
double NominalStatistic<by_entropy>::impurity(const double* sums, double weight, bool rest) const {
    const double* known = sums + table_.n_columns();
    double total = 0;
    std::size_t n_known = 0;
    for (std::size_t i = 0; i < table_.n_targets(); ++i) {
        const double here = table_.any_unknown ? known[i] : weight;
        if (here <= smallest_known) continue;
        ++n_known;
        double terms = 0;
        for (auto c = table_.first(i); c < table_.first(i + 1); ++c) {
            const double share = sums[c] / here;
            terms += by_entropy ? xlog2x_(sums[c]) : share * share;
        }
        if constexpr (by_entropy) {
            total += (xlog2x_(here) - terms) * (weight / here);
        } else {
            const double gini = 1 - terms;
            total += rest ? gini * table_.weight[i] * here : gini * here * table_.weight[i];
        }
    }
    if (by_entropy || n_known == 0) return total;
    return total / static_cast<double>(n_known);
}

template <bool by_entropy>
double NominalStatistic<by_entropy>::clus_entropy(const double* sums, double weight) const {
    constexpr double too_little = 1e-6;
    const double* known = sums + table_.n_columns();
    double total = 0;
    for (std::size_t i = 0; i < table_.n_targets(); ++i) {
        const double here = table_.any_unknown ? known[i] : weight;
        if (here < too_little) continue;
        double terms = 0;
        for (auto c = table_.first(i); c < table_.first(i + 1); ++c) {
            if (sums[c] == 0) continue;
            const double share = sums[c] / here;
            terms += share * std::log(share);
        }
        total += -terms / std::numbers::ln2;
    }
    return total;
}

template class NominalStatistic<false>;
template class NominalStatistic<true>;

}  // namespace ramify
