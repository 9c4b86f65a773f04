#include "growing/scan_splitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace ramify {

namespace {

/// Entropy in bits of a split into shares p and 1 - p.
double split_information(double p) {
    return p <= 0 || p >= 1 ? 0 : -p * std::log2(p) - (1 - p) * std::log2(1 - p);
}

}  // namespace

template <Scan S>
void ScanSplitter<S>::reset(const NodeRows& rows, const NodeLabels& labels) {
    rows_ = &rows;
    node_rows_ = std::accumulate(rows.part.begin(), rows.part.end(), 0.0);
    const auto is_one = [](double x) { return x == 1; };
    by_part_ = rows.weight == rows.part;
    unit_ = by_part_ && std::ranges::all_of(rows.part, is_one);
    bar_ = rejected;
    scan_.reset(rows, labels);
    scan_.begin({});
    node_impurity_ = scan_.known_impurity() * rules_.score_factor;
    if (rules_.clus) {
        tolerance_ = {rules_.clus_floor, rules_.clus_step};
    } else {
        const double bound = relative_tolerance * (rules_.gain_ratio ? 1.0 : node_impurity_);
        tolerance_ = {bound, bound};
    }
}

/// Starts a feature; returns false if too few of its values are known.
template <Scan S>
bool ScanSplitter<S>::count_known(std::span<const RankedEntry> missing) {
    missing_.clear();
    known_rows_ = node_rows_;
    for (const auto& item : missing) {
        missing_.push_back(item.entry);
        known_rows_ -= rows_->part[item.entry];
    }
    n_known_ = rows_->size() - missing_.size();
    return known_rows_ >= 2 * min_rows_;
}

/// Whether the scan is worth continuing, given the weight and impurity of the known entries.
template <Scan S>
bool ScanSplitter<S>::worth_scanning() {
    set_gain_floor();
    return scan_.known_weight() > 0 && scan_.known_weight() >= 2 * min_weight_ &&
           std::isfinite(gain_floor_);
}

/// The F-test compares df * gain / (SS - gain) with a critical value; for fixed SS that is a
/// lower bound of the gain.
template <Scan S>
void ScanSplitter<S>::set_gain_floor() {
    const double impurity = scan_.known_impurity();
    gain_ceiling_ = impurity * (1 + 1e-6);
    gain_floor_ = 0;
    if (rules_.f_critical.empty()) return;
    const double freedom = std::floor(scan_.known_weight() - 2 + 0.5);
    if (freedom <= 0 || impurity <= 0) {
        gain_floor_ = std::numeric_limits<double>::infinity();
        return;
    }
    const auto last = rules_.f_critical.size() - 1;
    const double critical = rules_.f_critical[std::min(last, static_cast<std::size_t>(freedom))];
    gain_floor_ = critical * impurity / (freedom + critical);
}

/// The gain as a score, before any division by the split information.
template <Scan S>
double ScanSplitter<S>::score_without_ratio(double gain) const {
    if (!(gain <= gain_ceiling_) || gain < gain_floor_ ||
        (gain_floor_ > 0 && gain == gain_floor_)) {
        return rejected;
    }
    double score = gain * rules_.score_factor;
    if (rules_.mean_score || rules_.gain_ratio) score /= scan_.known_weight();
    return score > 0 && score >= tolerance_.floor ? score : rejected;
}

template <Scan S>
double ScanSplitter<S>::score_of(double gain, double left_weight) const {
    const double score = score_without_ratio(gain);
    if (!rules_.gain_ratio || score == rejected) return score;
    const double information = split_information(left_weight / scan_.known_weight());
    return information < 1e-6 ? rejected : score / information;
}

/// Whether both sides are large enough.
template <Scan S>
bool ScanSplitter<S>::may_divide_here(double left_rows) const {
    const double left = scan_.left_weight();
    const double rest = scan_.known_weight() - left;
    return left_rows >= side_rows_ && known_rows_ - left_rows >= side_rows_ &&
           left >= min_weight_ && rest >= min_weight_ && left > 0 && rest > 0;
}

template <Scan S>
void ScanSplitter<S>::consider(double score, double gain, double left_weight, std::uint32_t upper,
                               std::uint32_t lower, Split& best) const {
    if (score == rejected || !tolerance_.better(score, best.score)) return;
    best.feature = static_cast<std::int32_t>(feature_);
    best.score = score;
    best.gain = gain;
    best.upper_rank = upper;
    best.lower_rank = lower;
    const auto& values = dataset_.features[feature_].values;
    best.threshold = threshold_between(values[upper], values[lower], rules_.midpoint);
    best.category_branch.clear();
    const double share = left_weight / scan_.known_weight();
    best.share = {share, 1 - share};
}

/// From the largest value down; `next_rank` follows the last of `stored` (missing_rank: nothing).
template <Scan S>
void ScanSplitter<S>::scan_down(std::span<const RankedEntry> stored, std::uint32_t next_rank,
                                Split& best) {
    // A plain score is the gain times a factor: one comparison rules out most candidates and, once
    // a good test is known, most features.
    const bool plain = !rules_.gain_ratio && !rules_.mean_score;
    const SweepLimits limits{rows_->part.data(),   unit_,      by_part_,
                             known_rows_,          side_rows_, min_weight_,
                             plain && !rules_.clus};
    const auto worth = [&](double gain) {
        return !plain || tolerance_.better(gain * rules_.score_factor, std::max(best.score, bar_));
    };
    Candidate found{best.score, 0, 0, 0, 0};
    scan_.sweep(stored, next_rank, limits, worth,
                [&](std::size_t k, std::uint32_t next, double gain, double left) {
                    ++n_tried_;
                    if (plain && !tolerance_.better(gain * rules_.score_factor, found.score))
                        return;
                    const double score = score_of(gain, left);
                    if (tolerance_.better(score, found.score)) {
                        found = {score, gain, left, stored[k].rank, next};
                    }
                });
    n_tried_ += scan_.n_passed_over();
    consider(found.score, found.gain, found.left_weight, found.upper, found.lower, best);
}

/// Scans negative values from the smallest up: the "no" side moves, so that the zeros, most of a
/// sparse column, are never visited. Candidates still compete in decreasing order of their values.
template <Scan S>
void ScanSplitter<S>::scan_negative(std::span<const RankedEntry> stored, std::uint32_t next_rank,
                                    Split& best) {
    upward_.clear();
    double moved_rows = 0;
    for (std::size_t k = stored.size(); k-- > 0;) {
        scan_.move(stored[k].entry);
        moved_rows += rows_->part[stored[k].entry];
        const std::uint32_t next = k > 0 ? stored[k - 1].rank : next_rank;
        if (next == stored[k].rank) continue;
        if (!may_divide_here(moved_rows)) continue;
        ++n_tried_;
        const double score = score_of(scan_.gain(), scan_.left_weight());
        if (score == rejected) continue;
        upward_.push_back({score, scan_.gain(), scan_.known_weight() - scan_.left_weight(), next,
                           stored[k].rank});
    }
    for (auto c = upward_.rbegin(); c != upward_.rend(); ++c) {
        consider(c->score, c->gain, c->left_weight, c->upper, c->lower, best);
    }
}

template <Scan S>
void ScanSplitter<S>::search_numeric(std::uint32_t feature_index, const FeatureOrder& order,
                                     SplitMix& random, Split& best) {
    const Feature& feature = dataset_.features[feature_index];
    if (order.constant(feature.kind, rows_->size())) return;
    feature_ = feature_index;
    if (!count_known(order.missing)) return;
    scan_.begin(missing_);
    if (!worth_scanning()) return;
    const bool has_zeros = feature.kind == FeatureKind::sparse && order.stored.size() < n_known_;
    side_rows_ = min_rows_;
    if (rules_.random_thresholds) {
        try_random(feature, order, feature.zero_rank, has_zeros, random, best);
        return;
    }
    side_rows_ = numeric_rows(feature);
    n_tried_ = 0;
    scan_numeric(feature, order, has_zeros, best);
    if (rules_.c45) pay_threshold(best);
}

/// C4.5: either side must have a tenth of the mean class size, at least min_samples_leaf and at
/// most 25 rows. A feature with two values has one threshold and is treated as nominal.
template <Scan S>
double ScanSplitter<S>::numeric_rows(const Feature& feature) const {
    constexpr double share = 0.1;
    constexpr double most = 25;
    if (!rules_.c45 || feature.values.size() <= 2) return min_rows_;
    const double wanted = std::min(most, share * known_rows_ / n_classes_);
    return std::max(min_rows_, rounded_down(wanted));
}

/// C4.5, release 8: the gain is reduced by log2(n) bits for the choice among n thresholds.
template <Scan S>
void ScanSplitter<S>::pay_threshold(Split& best) const {
    if (best.feature < 0) return;
    best.score -= std::log2(static_cast<double>(n_tried_));
    if (!(best.score > 0 && best.score >= tolerance_.floor)) {
        best.feature = -1;
        best.score = rejected;
    }
}

template <Scan S>
void ScanSplitter<S>::scan_numeric(const Feature& feature, const FeatureOrder& order,
                                   bool has_zeros, Split& best) {
    if (!has_zeros) {
        scan_down(order.stored, missing_rank, best);
        return;
    }
    const auto negative =
        std::ranges::upper_bound(order.stored, feature.zero_rank, {}, &RankedEntry::rank) -
        order.stored.begin();
    const auto n_positive = static_cast<std::size_t>(negative);
    scan_down(order.stored.first(n_positive), feature.zero_rank, best);
    if (n_positive < order.stored.size()) {
        scan_.begin(missing_);
        scan_negative(order.stored.subspan(n_positive), feature.zero_rank, best);
    }
}

/// One threshold, uniform between the smallest and the largest value in the node.
template <Scan S>
void ScanSplitter<S>::try_random(const Feature& feature, const FeatureOrder& order,
                                 std::uint32_t zero_rank, bool has_zeros, SplitMix& random,
                                 Split& best) {
    std::uint32_t top = order.stored.front().rank;
    std::uint32_t bottom = order.stored.back().rank;
    if (has_zeros) {
        top = std::min(top, zero_rank);
        bottom = std::max(bottom, zero_rank);
    }
    const double low = feature.values[bottom];
    const double high = feature.values[top];
    const double u = random.uniform();
    // Not the largest value itself: x > threshold must hold for at least one entry.
    const double drawn = low * (1 - u) + high * u;
    const double threshold = drawn < high ? std::max(drawn, low) : low;

    std::uint32_t upper = top;
    std::uint32_t lower = bottom;
    double moved_rows = 0;
    const bool zeros_left = has_zeros && 0.0 > threshold;
    const auto widen = [&](std::uint32_t rank, bool left) {
        if (left)
            upper = std::max(upper, rank);
        else
            lower = std::min(lower, rank);
    };
    if (has_zeros) widen(zero_rank, zeros_left);
    for (const auto& item : order.stored) {
        const bool left = feature.values[item.rank] > threshold;
        widen(item.rank, left);
        // If the zeros are on the left, the right side moves: zeros are never visited.
        if (left != zeros_left) {
            scan_.move(item.entry);
            moved_rows += rows_->part[item.entry];
        }
    }
    if (!may_divide_here(moved_rows)) return;
    const double score = score_of(scan_.gain(), scan_.left_weight());
    if (score == rejected || !tolerance_.better(score, best.score)) return;
    const double moved = scan_.left_weight();
    consider(score, scan_.gain(), zeros_left ? scan_.known_weight() - moved : moved, upper, lower,
             best);
    best.threshold = threshold;
}

template class ScanSplitter<VarianceScan>;
template class ScanSplitter<EntropyScan<false>>;
template class ScanSplitter<EntropyScan<true>>;
template class ScanSplitter<DistanceScan>;
template class ScanSplitter<TargetScan<NumericStatistic>>;
template class ScanSplitter<TargetScan<NominalStatistic<false>>>;
template class ScanSplitter<TargetScan<NominalStatistic<true>>>;

namespace {

std::unique_ptr<Splitter> make_table_splitter(const Dataset& dataset, const Targets& targets,
                                              Criterion criterion, const SplitRules& rules) {
    if (targets.table->is_numeric()) {
        return std::make_unique<ScanSplitter<TargetScan<NumericStatistic>>>(dataset, targets,
                                                                            rules);
    }
    if (criterion == Criterion::variance) {
        return std::make_unique<ScanSplitter<TargetScan<NominalStatistic<false>>>>(dataset,
                                                                                   targets, rules);
    }
    return std::make_unique<ScanSplitter<TargetScan<NominalStatistic<true>>>>(dataset, targets,
                                                                              rules);
}

}  // namespace

std::unique_ptr<Splitter> make_splitter(const Dataset& dataset, const Targets& targets,
                                        Criterion criterion, const SplitRules& rules) {
    if (targets.table != nullptr) return make_table_splitter(dataset, targets, criterion, rules);
    switch (criterion) {
        case Criterion::variance:
            return std::make_unique<ScanSplitter<VarianceScan>>(dataset, targets, rules);
        case Criterion::entropy:
            return std::make_unique<ScanSplitter<EntropyScan<false>>>(dataset, targets, rules);
        case Criterion::class_entropy:
            return std::make_unique<ScanSplitter<EntropyScan<true>>>(dataset, targets, rules);
        case Criterion::distance:
            break;
    }
    return std::make_unique<ScanSplitter<DistanceScan>>(dataset, targets, rules);
}

}  // namespace ramify
