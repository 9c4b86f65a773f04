// Tests of numeric features with missing values, which go to the branch that is better for them.
#include <algorithm>

#include "criteria/sweep.hpp"
#include "growing/scan_splitter.hpp"

namespace ramify {

/// Whether the missing values of a feature, which have been listed, take one branch of its tests.
template <Scan S>
bool ScanSplitter<S>::learns_from(const FeatureOrder& order) {
    if (rules_.missing == Missing::divide || order.missing.empty()) return false;
    if (rules_.missing == Missing::branch) return true;
    if (!may_learn_) return false;
    const SquaredSums sums = scan_.squares_of(missing_);
    begun_ = S::sweeps_both;
    return is_evidence(sums.removed, sums.whole, node_rows_);
}

/// Tests divide all rows of the node between their branches, those with a missing value too.
template <Scan S>
void ScanSplitter<S>::take_all_rows() {
    missing_rows_ = node_rows_ - known_rows_;
    known_rows_ = node_rows_;
    missing_weight_ = 0;
    for (const auto entry : missing_) missing_weight_ += rows_->weight[entry];
    weight_ = node_weight_;
}

/// Every threshold, with the missing values on either side; last, whether the value is missing.
template <Scan S>
void ScanSplitter<S>::learn_numeric(const Feature& feature, const FeatureOrder& order,
                                    SplitMix& random, Split& best) {
    take_all_rows();
    if (!scoring_.begin_feature(weight_, node_mass_)) return;
    const bool has_zeros = feature.kind == FeatureKind::sparse && order.stored.size() < n_known_;
    const bool varies = !order.constant(feature.kind, rows_->size(), false);
    side_rows_ = scoring_.min_rows();
    if (rules_.random_thresholds) {
        if (varies) try_random_both(feature, order, has_zeros, random, best);
        begin_both();
        consider_missing(best);
        return;
    }
    side_rows_ = scoring_.min_rows_of(feature, known_rows_, n_classes_);
    n_tried_ = 0;
    begin_both();
    if (!has_zeros) {
        scan_both(order.stored, missing_rank, false, best);
    } else if (varies) {
        const auto negative =
            std::ranges::upper_bound(order.stored, feature.zero_rank, {}, &RankedEntry::rank);
        scan_both({order.stored.begin(), negative}, feature.zero_rank, false, best);
        reversed_.assign(std::reverse_iterator(order.stored.end()),
                         std::reverse_iterator(negative));
        if (!reversed_.empty()) {
            begin_both();
            scan_both(reversed_, feature.zero_rank, true, best);
        }
    }
    consider_missing(best);
    scoring_.pay_threshold(n_tried_, best);
}

/// Items are in decreasing order of their values or, upward, in increasing order: then the "no"
/// side moves. Candidates compete in decreasing order of their values.
template <Scan S>
void ScanSplitter<S>::scan_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                                bool upward, Split& best) {
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
    both_.clear();
    sweep_both(items, next_rank, limits, worth,
               [&](std::size_t k, std::uint32_t next, double moved, double gain, double with) {
                   both_.push_back({items[k].rank, next, moved, gain, with});
               });
    n_tried_ += both_.size();
    if (upward) std::ranges::reverse(both_);
    for (const auto& both : both_) consider_both(both, upward, best);
}

template <Scan S>
template <typename Worth, typename Visit>
void ScanSplitter<S>::sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                                 SweepLimits limits, const Worth& worth, const Visit& visit) {
    if constexpr (S::sweeps_both) {
        limits.moved_rows = missing_rows_;
        scan_.sweep_both(items, next_rank, limits, worth, visit);
    } else {
        // One sweep with the missing values on the side that stays, one on the side that moves.
        std::vector<BothGains> found(items.size(), {0, 0, 0, no_gain, no_gain});
        scan_.begin({});
        sweep_items(items, next_rank, limits, scan_,
                    [&](std::size_t k, std::uint32_t next, double gain, double left) {
                        found[k] = {0, next, left, gain, no_gain};
                    });
        scan_.begin({});
        for (const auto entry : missing_) scan_.move(entry);
        limits.moved_rows = missing_rows_;
        sweep_items(items, next_rank, limits, scan_,
                    [&](std::size_t k, std::uint32_t next, double gain, double left) {
                        found[k] = {0, next, left - missing_weight_, found[k].gain, gain};
                    });
        for (std::size_t k = 0; k < found.size(); ++k) {
            const BothGains& one = found[k];
            if (one.gain == no_gain && one.gain_with == no_gain) continue;
            visit(k, one.next, one.moved, one.gain, one.gain_with);
        }
    }
}

/// If both are as good, missing values go to the larger branch, to the first of ties.
template <Scan S>
bool ScanSplitter<S>::consider_both(const BothGains& both, bool upward, Split& best) const {
    const double known = weight_ - missing_weight_;
    const double left = upward ? known - both.moved : both.moved;
    const std::uint32_t upper = upward ? both.next : both.here;
    const std::uint32_t lower = upward ? both.here : both.next;
    const std::int32_t larger = reaches(2 * left, known) ? 0 : 1;
    bool found = false;
    for (const std::int32_t branch : {larger, 1 - larger}) {
        const double gain = (branch == 1) == upward ? both.gain_with : both.gain;
        if (gain == no_gain) continue;
        const double left_weight = branch == 0 ? left + missing_weight_ : left;
        const double score = scoring_.score(gain, left_weight);
        if (!consider(score, gain, left_weight, upper, lower, best)) continue;
        best.missing_branch = branch;
        found = true;
    }
    return found;
}

template <Scan S>
void ScanSplitter<S>::try_random_both(const Feature& feature, const FeatureOrder& order,
                                      bool has_zeros, SplitMix& random, Split& best) {
    scan_.begin({});
    begun_ = false;
    const auto drawn = move_at_random(feature, order, has_zeros, random);
    const std::uint32_t here = drawn.upward ? drawn.lower : drawn.upper;
    const std::uint32_t next = drawn.upward ? drawn.upper : drawn.lower;
    BothGains both{here, next, scan_.left_weight(), no_gain, no_gain};
    if (may_divide_here(drawn.moved_rows)) both.gain = scan_.gain();
    for (const auto entry : missing_) scan_.move(entry);
    if (may_divide_here(drawn.moved_rows + missing_rows_)) both.gain_with = scan_.gain();
    if (consider_both(both, drawn.upward, best)) best.threshold = drawn.threshold;
}

/// x > -inf: whether the value is not missing.
template <Scan S>
void ScanSplitter<S>::consider_missing(Split& best) {
    const double left = weight_ - missing_weight_;
    if (!sides_large_enough(node_rows_ - missing_rows_, left)) return;
    ++n_tried_;
    const double gain = gain_of_missing();
    const auto lowest = static_cast<std::uint32_t>(dataset_.features[feature_].values.size() - 1);
    if (!consider(scoring_.score(gain, left), gain, left, lowest, lowest, best)) return;
    best.threshold = -std::numeric_limits<double>::infinity();
    best.missing_branch = 1;
}

template <Scan S>
void ScanSplitter<S>::begin_both() {
    if constexpr (S::sweeps_both) {
        if (!begun_) scan_.begin(missing_);
        begun_ = false;
    }
}

template <Scan S>
double ScanSplitter<S>::gain_of_missing() {
    if constexpr (S::sweeps_both) {
        return scan_.gain_of_missing();
    } else {
        scan_.begin({});
        for (const auto entry : missing_) scan_.move(entry);
        return scan_.gain();
    }
}

#define RAMIFY_SPLITTER(SCAN) template class ScanSplitter<SCAN>;
RAMIFY_EVERY_SCAN(RAMIFY_SPLITTER)
#undef RAMIFY_SPLITTER

}  // namespace ramify
