#include "growing/gain_ratio.hpp"

#include <algorithm>
#include <cmath>

#include "common/tolerance.hpp"

namespace ramify {

namespace {

/// A gain ratio is not used if the split information is below this.
constexpr double min_information = 1e-6;

double known_weight(const Feature& feature, const RatioNode& node) {
    if (!node.dataset.any_missing) return node.weight;
    const NodeRows& rows = node.rows;
    double missing = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto row = rows.row[e];
        const bool is_missing = feature.kind == FeatureKind::nominal ? feature.codes[row] < 0
                                : feature.kind == FeatureKind::dense
                                    ? feature.ranks[row] == missing_rank
                                    : std::ranges::binary_search(feature.missing_rows, row);
        if (is_missing) missing += rows.weight[e];
    }
    return node.weight - missing;
}

double information(double p) {
    return p > 0 ? -p * std::log2(p) : 0;
}

double ratio_of(const Split& split, const RatioNode& node) {
    const auto& feature = node.dataset.features[static_cast<std::size_t>(split.feature)];
    const bool divides = split.missing_branch < 0;
    const double known = divides ? known_weight(feature, node) / node.weight : 1;
    double entropy = information(1 - known);
    for (const double share : split.share) entropy += information(known * share);
    return entropy < min_information ? rejected : split.score / node.weight / entropy;
}

}  // namespace

std::size_t choose_by_ratio(std::span<const Split> found, const RatioNode& node) {
    double sum = 0;
    double n = 0;
    for (const auto& split : found) {
        if (split.feature < 0) continue;
        sum += split.score;
        n += 1;
    }
    std::size_t best = found.size();
    double best_ratio = rejected;
    for (std::size_t k = 0; k < found.size(); ++k) {
        if (found[k].feature < 0 || !reaches(found[k].score, sum / n)) continue;
        const double ratio = ratio_of(found[k], node);
        if (ratio > best_ratio + relative_tolerance) {
            best_ratio = ratio;
            best = k;
        }
    }
    return best;
}

}  // namespace ramify
