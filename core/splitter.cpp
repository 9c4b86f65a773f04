#include "splitter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ramify {

namespace {

constexpr double rejected = -std::numeric_limits<double>::infinity();
constexpr double relative_tolerance = 1e-9;

/// Entropy in bits of a split into shares p and 1 - p.
double split_information(double p) {
    return p <= 0 || p >= 1 ? 0 : -p * std::log2(p) - (1 - p) * std::log2(1 - p);
}

}  // namespace

double threshold_between(double upper, double lower, bool midpoint) {
    if (!midpoint) return lower;
    const double middle = lower + (upper - lower) / 2;
    // Neighbouring numbers have no middle, and the difference of huge ones overflows.
    return std::isfinite(middle) && middle < upper ? middle : lower;
}

template <typename Scan>
void Splitter<Scan>::reset(const NodeRows& rows, const NodeLabels& labels) {
    rows_ = &rows;
    node_rows_ = std::accumulate(rows.part.begin(), rows.part.end(), 0.0);
    scan_.reset(labels, rows.weight);
    scan_.begin({});
    node_impurity_ = scan_.known_impurity() * rules_.score_factor;
    if (rules_.clus) {
        tolerance_ = {rules_.clus_floor, rules_.clus_step};
    } else {
        const double bound = relative_tolerance * (rules_.gain_ratio ? 1.0 : node_impurity_);
        tolerance_ = {bound, bound};
    }
}

/// Starts a feature; false when its known entries are too few or too alike to be worth a scan.
template <typename Scan>
bool Splitter<Scan>::begin(std::span<const RankedEntry> missing) {
    missing_.clear();
    known_rows_ = node_rows_;
    for (const auto& item : missing) {
        missing_.push_back(item.entry);
        known_rows_ -= rows_->part[item.entry];
    }
    n_known_ = rows_->size() - missing_.size();
    if (known_rows_ < 2 * least_rows_) return false;
    scan_.begin(missing_);
    set_gain_floor();
    return scan_.known_weight() > 0 && scan_.known_weight() >= 2 * least_weight_ &&
           std::isfinite(gain_floor_);
}

/// The F-test compares df * gain / (SS - gain) with a critical value; for fixed SS that is a
/// lower bound of the gain.
template <typename Scan>
void Splitter<Scan>::set_gain_floor() {
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

template <typename Scan>
double Splitter<Scan>::score_of(double gain, double left_weight) const {
    const double known = scan_.known_weight();
    if (!(gain <= gain_ceiling_) || gain < gain_floor_ ||
        (gain_floor_ > 0 && gain == gain_floor_)) {
        return rejected;
    }
    double score = gain * rules_.score_factor;
    if (rules_.mean_score || rules_.gain_ratio) score /= known;
    if (rules_.clus && score < tolerance_.floor) return rejected;
    if (rules_.gain_ratio) {
        const double information = split_information(left_weight / known);
        if (information < 1e-6) return rejected;
        score /= information;
    }
    return score > 0 && score >= tolerance_.floor ? score : rejected;
}

/// Score of the test between what has moved and the rest.
template <typename Scan>
double Splitter<Scan>::current_score(double left_rows) const {
    const double left = scan_.left_weight();
    const double rest = scan_.known_weight() - left;
    if (left_rows < least_rows_ || known_rows_ - left_rows < least_rows_ || left < least_weight_ ||
        rest < least_weight_ || left <= 0 || rest <= 0) {
        return rejected;
    }
    return score_of(scan_.gain(), left);
}

template <typename Scan>
void Splitter<Scan>::consider(double score, double gain, double left_weight, std::uint32_t upper,
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
template <typename Scan>
void Splitter<Scan>::scan_down(std::span<const RankedEntry> stored, std::uint32_t next_rank,
                               Split& best) {
    const std::size_t n = stored.size();
    double left_rows = 0;
    for (std::size_t k = 0; k < n; ++k) {
        scan_.move(stored[k].entry);
        left_rows += rows_->part[stored[k].entry];
        const double rest = scan_.known_weight() - scan_.left_weight();
        if (known_rows_ - left_rows < least_rows_ || rest < least_weight_ || rest <= 0) {
            return;
        }
        const std::uint32_t next = k + 1 < n ? stored[k + 1].rank : next_rank;
        if (next == stored[k].rank || next == missing_rank) continue;
        if (left_rows < least_rows_) continue;
        const double left = scan_.left_weight();
        if (left < least_weight_ || left <= 0) continue;
        const double gain = scan_.gain();
        const double score = score_of(gain, left);
        if (tolerance_.better(score, best.score)) {
            consider(score, gain, left, stored[k].rank, next, best);
        }
    }
}

/// Values below zero, from the smallest up: what moves is the "no" side, so that the zeros, most
/// of a sparse column, are never visited. Candidates still compete in decreasing order.
template <typename Scan>
void Splitter<Scan>::scan_negative(std::span<const RankedEntry> stored, std::uint32_t next_rank,
                                   Split& best) {
    upward_.clear();
    double moved_rows = 0;
    for (std::size_t k = stored.size(); k-- > 0;) {
        scan_.move(stored[k].entry);
        moved_rows += rows_->part[stored[k].entry];
        const std::uint32_t next = k > 0 ? stored[k - 1].rank : next_rank;
        if (next == stored[k].rank) continue;
        const double score = current_score(moved_rows);
        if (score == rejected) continue;
        upward_.push_back({score, scan_.gain(), scan_.known_weight() - scan_.left_weight(), next,
                           stored[k].rank});
    }
    for (auto c = upward_.rbegin(); c != upward_.rend(); ++c) {
        consider(c->score, c->gain, c->left_weight, c->upper, c->lower, best);
    }
}

template <typename Scan>
void Splitter<Scan>::search_numeric(std::uint32_t feature_index, const FeatureOrder& order,
                                    SplitMix& random, Split& best) {
    const Feature& feature = dataset_.features[feature_index];
    if (order.constant(feature.kind, rows_->size())) return;
    feature_ = feature_index;
    if (!begin(order.missing)) return;
    const bool has_zeros = feature.kind == FeatureKind::sparse && order.stored.size() < n_known_;
    if (rules_.random_thresholds) {
        try_random(feature, order, feature.zero_rank, has_zeros, random, best);
        return;
    }
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
template <typename Scan>
void Splitter<Scan>::try_random(const Feature& feature, const FeatureOrder& order,
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
    // Never the largest value itself: x > threshold must hold for at least one entry.
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
        // With the zeros on the left it is the right side that moves: zeros are never visited.
        if (left != zeros_left) {
            scan_.move(item.entry);
            moved_rows += rows_->part[item.entry];
        }
    }
    const double score = current_score(moved_rows);
    if (score == rejected || !tolerance_.better(score, best.score)) return;
    const double moved = scan_.left_weight();
    consider(score, scan_.gain(), zeros_left ? scan_.known_weight() - moved : moved, upper, lower,
             best);
    best.threshold = threshold;
}

// ---- nominal -------------------------------------------------------------------------------

template <typename Scan>
bool Splitter<Scan>::begin_categories(std::uint32_t feature_index) {
    const Feature& feature = dataset_.features[feature_index];
    feature_ = feature_index;
    missing_.clear();
    category_rows_.assign(static_cast<std::size_t>(feature.n_categories), 0.0);
    known_rows_ = 0;
    for (std::size_t e = 0; e < rows_->size(); ++e) {
        const auto code = feature.codes[rows_->row[e]];
        if (code < 0) {
            missing_.push_back(static_cast<std::uint32_t>(e));
        } else {
            category_rows_[static_cast<std::size_t>(code)] += rows_->part[e];
            known_rows_ += rows_->part[e];
        }
    }
    present_.clear();
    for (std::uint32_t code = 0; code < category_rows_.size(); ++code) {
        if (category_rows_[code] > 0) present_.push_back(code);
    }
    if (present_.size() < 2 || known_rows_ < 2 * least_rows_) return false;
    scan_.begin_values(present_.size(), missing_);
    set_gain_floor();
    if (scan_.known_weight() <= 0 || !std::isfinite(gain_floor_)) return false;

    // Sums only for categories that occur: `present_` gives each its place.
    std::vector<std::uint32_t> place(category_rows_.size());
    for (std::uint32_t k = 0; k < present_.size(); ++k) place[present_[k]] = k;
    for (std::size_t e = 0; e < rows_->size(); ++e) {
        const auto code = feature.codes[rows_->row[e]];
        if (code >= 0)
            scan_.add(place[static_cast<std::size_t>(code)], static_cast<std::uint32_t>(e));
    }
    return true;
}

template <typename Scan>
void Splitter<Scan>::search_nominal(std::uint32_t feature, SplitMix& random, Split& best) {
    if (!begin_categories(feature)) return;
    if (rules_.nominal == NominalTests::nary) {
        branch_on_all(feature, best);
    } else if (rules_.random_thresholds) {
        choose_random_subset(feature, random, best);
    } else {
        choose_subset(feature, best);
    }
}

/// Greedy forward selection: add the category that helps most while any helps.
template <typename Scan>
void Splitter<Scan>::choose_subset(std::uint32_t feature, Split& best) {
    const double step = rules_.clus ? 0 : tolerance_.step;
    const auto n_declared = static_cast<std::size_t>(dataset_.features[feature].n_categories);
    // Two declared categories: one test, on the first. More: all but one may be taken in turn.
    const std::size_t n_tried = n_declared == 2 ? 1 : present_.size();
    const std::size_t most =
        n_declared == 2 || rules_.nominal == NominalTests::single ? 1 : n_declared - 1;
    std::vector<char> chosen(present_.size(), 0);
    std::vector<char> best_chosen;
    double best_score = rejected;
    double best_gain = 0;
    double best_left = 0;
    double left_rows = 0;
    for (std::size_t round = 0; round < most; ++round) {
        std::size_t pick = present_.size();
        for (std::size_t k = 0; k < n_tried; ++k) {
            if (chosen[k]) continue;
            const double rows = left_rows + category_rows_[present_[k]];
            const double left = scan_.left_weight() + scan_.value_weight(k);
            const double rest = scan_.known_weight() - left;
            if (rows < least_rows_ || known_rows_ - rows < least_rows_ || left < least_weight_ ||
                rest < least_weight_ || left <= 0 || rest <= 0) {
                continue;
            }
            const double gain = scan_.gain_with(k);
            const double score = score_of(gain, left);
            if (score != rejected && score > best_score + step) {
                best_score = score;
                best_gain = gain;
                best_left = left;
                pick = k;
            }
        }
        if (pick == present_.size()) break;
        chosen[pick] = 1;
        best_chosen = chosen;
        left_rows += category_rows_[present_[pick]];
        scan_.take(pick);
    }
    if (best_score == rejected || !tolerance_.better(best_score, best.score)) return;
    const double share = best_left / scan_.known_weight();
    best.share = {share, 1 - share};
    accept_subset(feature, best_score, best_gain, best_chosen, best);
}

/// Each category that occurs goes to a side by a coin; a one-sided draw is mended by moving one.
template <typename Scan>
void Splitter<Scan>::choose_random_subset(std::uint32_t feature, SplitMix& random, Split& best) {
    std::vector<char> chosen(present_.size());
    for (auto& side : chosen) side = static_cast<char>(random.next() >> 63);
    const auto n_chosen = static_cast<std::size_t>(std::ranges::count(chosen, char{1}));
    if (n_chosen == 0 || n_chosen == chosen.size()) {
        auto& side = chosen[random.below(static_cast<std::uint32_t>(chosen.size()))];
        side = static_cast<char>(side == 0);
    }
    double left_rows = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (!chosen[k]) continue;
        scan_.take(k);
        left_rows += category_rows_[present_[k]];
    }
    // take() keeps sums and weight of the left side, so gain() speaks of the whole subset.
    const double score = current_score(left_rows);
    if (score == rejected || !tolerance_.better(score, best.score)) return;
    const double share = scan_.left_weight() / scan_.known_weight();
    best.share = {share, 1 - share};
    accept_subset(feature, score, scan_.gain(), chosen, best);
}

template <typename Scan>
void Splitter<Scan>::accept_subset(std::uint32_t feature, double score, double gain,
                                   std::span<const char> chosen, Split& best) const {
    best.feature = static_cast<std::int32_t>(feature);
    best.score = score;
    best.gain = gain;
    best.threshold = 0;
    // Declared categories that do not occur here answer "no".
    best.category_branch.assign(category_rows_.size(), 1);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (chosen[k]) best.category_branch[present_[k]] = 0;
    }
}

template <typename Scan>
void Splitter<Scan>::branch_on_all(std::uint32_t feature, Split& best) {
    const double known = scan_.known_weight();
    // CLUS gives every declared category a branch, so that none may be empty.
    if (rules_.clus && present_.size() < category_rows_.size() && least_weight_ > 0) return;
    std::vector<std::uint32_t> places(present_.size());
    double information = 0;
    for (std::uint32_t k = 0; k < present_.size(); ++k) {
        places[k] = k;
        const double weight = scan_.value_weight(k);
        if (weight < least_weight_ || weight <= 0 || category_rows_[present_[k]] < least_rows_) {
            return;
        }
        information -= weight / known * std::log2(weight / known);
    }
    const double gain = scan_.gain_of_all(places);
    // The share of the first branch serves the two-way formula only for two branches.
    double score = rejected;
    if (rules_.gain_ratio) {
        score =
            gain <= gain_ceiling_ && information >= 1e-6 ? gain / known / information : rejected;
        if (score < tolerance_.floor) score = rejected;
    } else {
        score = score_of(gain, known / 2);
    }
    if (score == rejected || !tolerance_.better(score, best.score)) return;
    best.feature = static_cast<std::int32_t>(feature);
    best.score = score;
    best.gain = gain;
    best.threshold = 0;
    best.category_branch.assign(category_rows_.size(), -1);
    best.share.clear();
    for (std::uint32_t k = 0; k < present_.size(); ++k) {
        best.category_branch[present_[k]] = static_cast<std::int32_t>(k);
        best.share.push_back(scan_.value_weight(k) / known);
    }
}

template class Splitter<VarianceScan>;
template class Splitter<EntropyScan<false>>;
template class Splitter<EntropyScan<true>>;

}  // namespace ramify
