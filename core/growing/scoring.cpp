#include "growing/scoring.hpp"

#include <limits>

namespace ramify {

Scoring::Scoring(const SplitRules& rules)
    : rules_(rules),
      min_rows_(rounded_down(rules.min_samples_leaf)),
      min_weight_(rules.clus ? rules.min_weight : rounded_down(rules.min_weight)) {}

Competition Scoring::competition() const {
    if (rules_.c45) return Competition::by_ratio;
    return rules_.clus ? Competition::in_turn : Competition::apart;
}

void Scoring::begin_node(double impurity) {
    if (rules_.clus) {
        tolerance_ = {rules_.clus_floor, rules_.clus_step};
    } else {
        const double bound = relative_tolerance * (rules_.gain_ratio ? 1.0 : impurity);
        tolerance_ = {bound, bound};
    }
}

bool Scoring::begin_feature(double known_weight, double known_impurity) {
    known_weight_ = known_weight;
    set_gain_floor(known_impurity);
    return known_weight > 0 && known_weight >= 2 * min_weight_ && std::isfinite(gain_floor_);
}

/// The F-test compares df * gain / (SS - gain) with a critical value; for fixed SS that is a
/// lower bound of the gain.
void Scoring::set_gain_floor(double impurity) {
    gain_ceiling_ = impurity * (1 + 1e-6);
    gain_floor_ = 0;
    if (rules_.f_critical.empty()) return;
    const double freedom = std::floor(known_weight_ - 2 + 0.5);
    if (freedom <= 0 || impurity <= 0) {
        gain_floor_ = std::numeric_limits<double>::infinity();
        return;
    }
    const auto last = rules_.f_critical.size() - 1;
    const double critical = rules_.f_critical[std::min(last, static_cast<std::size_t>(freedom))];
    gain_floor_ = critical * impurity / (freedom + critical);
}

/// C4.5: either side must have a tenth of the mean class size, at least min_samples_leaf and at
/// most 25 rows. A feature with two values has one threshold and is treated as nominal.
double Scoring::min_rows_of(const Feature& feature, double known_rows, double n_classes) const {
    constexpr double share = 0.1;
    constexpr double most = 25;
    if (!rules_.c45 || feature.values.size() <= 2) return min_rows_;
    const double wanted = std::min(most, share * known_rows / n_classes);
    return std::max(min_rows_, rounded_down(wanted));
}

/// C4.5, release 8: the gain is reduced by log2(n) bits for the choice among n thresholds.
void Scoring::pay_threshold(std::size_t n_tried, Split& best) const {
    if (!rules_.c45 || best.feature < 0) return;
    best.score -= std::log2(static_cast<double>(n_tried));
    if (!(best.score > 0 && best.score >= tolerance_.floor)) {
        best.feature = -1;
        best.score = rejected;
    }
}

}  // namespace ramify
