#include "growing/scan_splitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace ramify {

template <Scan S>
void ScanSplitter<S>::reset(const NodeRows& rows, const NodeLabels& labels) {
    rows_ = &rows;
    whole_ = by_part_ = true;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        // Branch-free: it is usually true of all.
        whole_ &= rows.part[e] == 1;
        by_part_ &= rows.weight[e] == rows.part[e];
    }
    node_rows_ = whole_ ? static_cast<double>(rows.size())
                        : std::accumulate(rows.part.begin(), rows.part.end(), 0.0);
    beat_ = rejected;
    scan_.reset(rows, labels);
    scan_.begin({});
    node_weight_ = scan_.known_weight();
    node_mass_ = scan_.known_impurity();
    node_impurity_ = node_mass_ * rules_.score_factor;
    scoring_.begin_node(node_impurity_);
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
    return known_rows_ >= 2 * scoring_.min_rows();
}

/// Whether both sides are large enough.
template <Scan S>
bool ScanSplitter<S>::may_divide_here(double left_rows) const {
    const double left = scan_.left_weight();
    const double rest = scan_.known_weight() - left;
    return left_rows >= side_rows_ && known_rows_ - left_rows >= side_rows_ &&
           left >= scoring_.min_weight() && rest >= scoring_.min_weight() && left > 0 && rest > 0;
}

template <Scan S>
bool ScanSplitter<S>::consider(double score, double gain, double left_weight, std::uint32_t upper,
                               std::uint32_t lower, Split& best) const {
    if (score == rejected || !scoring_.tolerance().better(score, best.score)) return false;
    best.feature = static_cast<std::int32_t>(feature_);
    best.score = score;
    best.gain = gain;
    best.upper_rank = upper;
    best.lower_rank = lower;
    const auto& values = dataset_.features[feature_].values;
    best.threshold = threshold_between(values[upper], values[lower], rules_.midpoint, rules_.clus);
    best.category_branch.clear();
    best.missing_branch = -1;
    const double share = left_weight / weight_;
    best.share = {share, 1 - share};
    return true;
}

/// From the largest value down; `next_rank` follows the last of `stored` (missing_rank: nothing).
template <Scan S>
void ScanSplitter<S>::scan_down(std::span<const RankedEntry> stored, std::uint32_t next_rank,
                                Split& best) {
    // Where the score is the gain times a factor, one comparison rules out most candidates and,
    // once a good test is known, most features.
    const bool by_gain = scoring_.is_gain();
    const ScoreTolerance tolerance = scoring_.tolerance();
    const SweepLimits limits{rows_->part.data(),
                             whole_ && by_part_,
                             whole_,
                             by_part_,
                             known_rows_,
                             side_rows_,
                             scoring_.min_weight(),
                             scoring_.ignores_small_gains()};
    const auto worth = [&](double gain) {
        const double score = scoring_.score_of_gain(gain);
        return !by_gain || (score > beat_ && tolerance.better(score, best.score));
    };
    Candidate found{best.score, 0, 0, 0, 0};
    scan_.sweep(stored, next_rank, limits, worth,
                [&](std::size_t k, std::uint32_t next, double gain, double left) {
                    ++n_tried_;
                    if (by_gain && !tolerance.better(scoring_.score_of_gain(gain), found.score)) {
                        return;
                    }
                    const double score = scoring_.score(gain, left);
                    if (tolerance.better(score, found.score)) {
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
        const double score = scoring_.score(scan_.gain(), scan_.left_weight());
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
    if (order.constant(feature.kind, rows_->size(), learns())) return;
    feature_ = feature_index;
    const bool enough = count_known(order.missing);
    begun_ = false;
    if (learns_from(order)) {
        learn_numeric(feature, order, random, best);
        return;
    }
    if (!enough || order.constant(feature.kind, rows_->size(), false)) return;
    if (!begun_) scan_.begin(missing_);
    if (!worth_scanning()) return;
    const bool has_zeros = feature.kind == FeatureKind::sparse && order.stored.size() < n_known_;
    side_rows_ = scoring_.min_rows();
    if (rules_.random_thresholds) {
        try_random(feature, order, has_zeros, random, best);
        return;
    }
    side_rows_ = scoring_.min_rows_of(feature, known_rows_, n_classes_);
    n_tried_ = 0;
    scan_numeric(feature, order, has_zeros, best);
    scoring_.pay_threshold(n_tried_, best);
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

/// Of the ranks from `top` to `bottom`, the last with a value above the threshold: that of `top`
/// is above, that of `bottom` is not. The values of a few items are looked up, since every other
/// step of a bisection is mispredicted; then it is the last of their ranks.
std::uint32_t last_above(const DistinctValues& values, std::span<const RankedEntry> items,
                         double threshold, std::uint32_t top, std::uint32_t bottom) {
    constexpr std::size_t few = 64;
    if (items.size() <= few) {
        std::uint32_t last = top;
        for (const auto& item : items) {
            const std::uint32_t above = values[item.rank] > threshold ? item.rank : top;
            last = std::max(last, above);
        }
        return last;
    }
    while (bottom - top > 1) {
        const std::uint32_t middle = top + (bottom - top) / 2;
        (values[middle] > threshold ? top : bottom) = middle;
    }
    return top;
}

/// One threshold, uniform between the smallest and the largest value in the node.
template <Scan S>
typename ScanSplitter<S>::RandomThreshold ScanSplitter<S>::move_at_random(
    const Feature& feature, const FeatureOrder& order, bool has_zeros, SplitMix& random) {
    std::uint32_t top = order.top;
    std::uint32_t bottom = order.bottom;
    if (has_zeros) {
        top = std::min(top, feature.zero_rank);
        bottom = std::max(bottom, feature.zero_rank);
    }
    const double low = feature.values[bottom];
    const double high = feature.values[top];
    const double u = random.uniform();
    // Not the largest value itself: x > threshold must hold for at least one entry.
    const double drawn = low * (1 - u) + high * u;
    const double threshold = drawn < high ? std::max(drawn, low) : low;

    // If the zeros are on the left, the right side moves: zeros are never visited.
    const bool upward = has_zeros && 0.0 > threshold;
    std::uint32_t last = last_above(feature.values, order.stored, threshold, top, bottom);
    if (upward) last = std::max(last, feature.zero_rank);
    move_side(order.stored, last, upward);
    return {threshold, last, last + 1, upward, rows_moved(order.stored, last, upward)};
}

/// Moves the items with a rank of at most `last` or, upward, the others.
template <Scan S>
void ScanSplitter<S>::move_side(std::span<const RankedEntry> items, std::uint32_t last,
                                bool upward) {
    if constexpr (requires { scan_.move_side(items, last, upward, true); }) {
        scan_.move_side(items, last, upward, whole_ && by_part_);
    } else {
        for (const auto& item : items) {
            if ((item.rank <= last) != upward) scan_.move(item.entry);
        }
    }
}

template <Scan S>
double ScanSplitter<S>::rows_moved(std::span<const RankedEntry> items, std::uint32_t last,
                                   bool upward) const {
    if (by_part_) return scan_.left_weight();
    double rows = 0;
    for (const auto& item : items) {
        rows += (item.rank <= last) != upward ? rows_->part[item.entry] : 0.0;
    }
    return rows;
}

template <Scan S>
void ScanSplitter<S>::try_random(const Feature& feature, const FeatureOrder& order, bool has_zeros,
                                 SplitMix& random, Split& best) {
    const auto drawn = move_at_random(feature, order, has_zeros, random);
    if (!may_divide_here(drawn.moved_rows)) return;
    const double moved = scan_.left_weight();
    const double gain = scan_.gain();
    const double left = drawn.upward ? scan_.known_weight() - moved : moved;
    const double score = scoring_.score(gain, moved);
    if (consider(score, gain, left, drawn.upper, drawn.lower, best)) {
        best.threshold = drawn.threshold;
    }
}

#define RAMIFY_SPLITTER(SCAN) template class ScanSplitter<SCAN>;
RAMIFY_EVERY_SCAN(RAMIFY_SPLITTER)
#undef RAMIFY_SPLITTER

namespace {

std::unique_ptr<Splitter> make_table_splitter(const Dataset& dataset, const Targets& targets,
                                              const GrowOptions& options) {
    const SplitRules& rules = options.rules;
    if (targets.table->is_numeric()) {
        return std::make_unique<ScanSplitter<TargetScan<NumericStatistic>>>(dataset, targets,
                                                                            rules);
    }
    if (options.criterion == Criterion::variance) {
        return std::make_unique<ScanSplitter<TargetScan<NominalStatistic<false>>>>(dataset,
                                                                                   targets, rules);
    }
    return std::make_unique<ScanSplitter<TargetScan<NominalStatistic<true>>>>(dataset, targets,
                                                                              rules);
}

}  // namespace

std::unique_ptr<Splitter> make_splitter(const Dataset& dataset, const Targets& targets,
                                        const GrowOptions& options) {
    const SplitRules& rules = options.rules;
    if (targets.table != nullptr) return make_table_splitter(dataset, targets, options);
    if (targets.features != nullptr) {
        return std::make_unique<ScanSplitter<MixedVarianceScan>>(dataset, targets, rules);
    }
    if (targets.unknown != nullptr) {
        return std::make_unique<ScanSplitter<KnownVarianceScan>>(dataset, targets, rules);
    }
    if (options.engine == Engine::few_labels) {
        return std::make_unique<ScanSplitter<FewLabelsScan>>(dataset, targets, rules);
    }
    return with_scan(options.criterion,
                     [&]<typename Scan>(std::type_identity<Scan>) -> std::unique_ptr<Splitter> {
                         return std::make_unique<ScanSplitter<Scan>>(dataset, targets, rules);
                     });
}

}  // namespace ramify
