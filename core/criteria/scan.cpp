#include "criteria/scan.hpp"

#include <algorithm>

namespace ramify {

void ScanBase::subtract_others(std::size_t value, const std::vector<double>& known,
                               std::vector<double>& sums, std::vector<double>& weights) const {
    double* rest = sums.data() + value * known.size();
    std::copy(known.begin(), known.end(), rest);
    weights[value] = known_weight_;
    for (std::size_t other = 0; other < weights.size(); ++other) {
        if (other == value) continue;
        const double* its = sums.data() + other * known.size();
        for (std::size_t id = 0; id < known.size(); ++id) rest[id] -= its[id];
        weights[value] -= weights[other];
    }
}

void PrefixSums::make_room(std::size_t n) {
    if (weight.size() >= n) return;
    for (auto* sums : {&weight, &rows, &square, &cross, &gain, &met, &gain_with}) sums->resize(n);
    counted_ = 0;
}

/// The sums are integers and the same for every feature: they are kept until overwritten.
std::size_t PrefixSums::count(std::size_t n, double known_weight, const SweepLimits& limits) {
    make_room(n);
    for (; counted_ < n; ++counted_) {
        weight[counted_] = rows[counted_] = static_cast<double>(counted_ + 1);
    }
    const double rest = std::max({limits.min_rows, limits.min_weight, 1.0});
    const double most = std::min(limits.known_rows, known_weight) - rest;
    return most < 1 ? 0 : std::min(n, static_cast<std::size_t>(most));
}

std::size_t PrefixSums::cut_with(std::size_t n, double weight_before, double node_weight,
                                 const SweepLimits& limits) const {
    while (n > 0) {
        const double rest = node_weight - (weight[n - 1] + weight_before);
        const double rest_rows = limits.known_rows - (rows[n - 1] + limits.moved_rows);
        if (!limits.too_few(rest_rows, rest)) break;
        --n;
    }
    return n;
}

std::size_t PrefixSums::weigh(std::span<const RankedEntry> items, std::span<const double> weights,
                              double known_weight, const SweepLimits& limits) {
    make_room(items.size());
    double sum = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
        sum += weights[items[k].entry];
        weight[k] = sum;
    }
    return cut(items, known_weight, limits);
}

std::size_t PrefixSums::cut(std::span<const RankedEntry> items, double known_weight,
                            const SweepLimits& limits) {
    std::size_t n = items.size();
    counted_ = 0;
    if (limits.whole) {
        for (std::size_t k = 0; k < n; ++k) rows[k] = static_cast<double>(k + 1);
    } else if (limits.by_part) {
        std::copy_n(weight.begin(), n, rows.begin());
    } else {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
            sum += limits.part[items[k].entry];
            rows[k] = sum;
        }
    }
    // Both sums increase: places that leave too little are at the end.
    while (n > 0) {
        const double rest = known_weight - weight[n - 1];
        const bool enough = limits.known_rows - rows[n - 1] >= limits.min_rows &&
                            rest >= limits.min_weight && rest > 0;
        if (enough) break;
        --n;
    }
    return n;
}

}  // namespace ramify
