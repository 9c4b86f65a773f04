// Tests of nominal features: a set of categories against the rest, or a branch for each.
#include <algorithm>
#include <cmath>

#include "growing/scan_splitter.hpp"

namespace ramify {

template <Scan S>
void ScanSplitter<S>::search_nominal(std::uint32_t feature, const FeatureOrder& order,
                                     SplitMix& random, Split& best) {
    if (order.constant(FeatureKind::nominal, rows_->size(), this->learns())) return;
    feature_ = feature;
    const bool enough = count_known(order.missing);
    const bool learns = learns_from(order);
    if (!learns && (!enough || order.constant(FeatureKind::nominal, rows_->size(), false))) return;
    list_categories(order);
    if (learns) add_missing_category();
    if (!categories_large_enough()) return;
    const bool nary = rules_.nominal_tests == NominalTests::nary;
    if (dataset_.features[feature].n_categories == 2 && !nary && !learns) {
        scan_.begin(missing_);
        if (worth_scanning()) try_pair(order, best);
        return;
    }
    const std::span<const std::uint32_t> left_out(missing_);
    scan_.begin_values(categories_.size(), learns ? left_out.first(0) : left_out);
    if (!worth_scanning()) return;
    sum_categories(order);
    if (nary) {
        branch_on_all(best);
    } else if (rules_.random_thresholds) {
        choose_random_subset(random, best);
    } else {
        choose_subset(best);
    }
}

/// Finds the runs of equal codes, and inserts the category that is not stored.
template <Scan S>
void ScanSplitter<S>::list_categories(const FeatureOrder& order) {
    const auto common_code = static_cast<std::uint32_t>(dataset_.features[feature_].common);
    const bool unstored = order.stored.size() < n_known_;
    double stored_rows = 0;
    categories_.clear();
    common_ = n_known_;
    const auto add_common = [&] {
        common_ = categories_.size();
        categories_.push_back({common_code, 0, 0, 0});
    };
    for (std::size_t begin = 0; begin < order.stored.size();) {
        const auto code = order.stored[begin].rank;
        if (unstored && common_ == n_known_ && code > common_code) add_common();
        auto end = begin;
        double rows = 0;
        for (; end < order.stored.size() && order.stored[end].rank == code; ++end) {
            rows += rows_->part[order.stored[end].entry];
        }
        categories_.push_back({code, begin, end, rows});
        stored_rows += rows;
        begin = end;
    }
    if (unstored && common_ == n_known_) add_common();
    missing_at_ = none;
    if (unstored) {
        categories_[common_].rows = known_rows_ - stored_rows;
    } else {
        common_ = none;
    }
}

/// Missing values are one more category. Where each category has a branch and theirs would be too
/// small, they join the largest.
template <Scan S>
void ScanSplitter<S>::add_missing_category() {
    const double rows = node_rows_ - known_rows_;
    known_rows_ = node_rows_;
    double weight = 0;
    for (const auto entry : missing_) weight += rows_->weight[entry];
    const bool is_large = rows >= scoring_.min_rows() && weight >= scoring_.min_weight();
    if (rules_.nominal_tests == NominalTests::nary && !is_large) {
        const auto most = std::ranges::max_element(categories_, {}, &Category::rows);
        most->rows += rows;
        missing_at_ = static_cast<std::size_t>(most - categories_.begin());
        return;
    }
    missing_at_ = categories_.size();
    const auto code = static_cast<std::uint32_t>(dataset_.features[feature_].n_categories);
    categories_.push_back({code, 0, 0, rows});
}

/// Whether any test of the listed categories leaves enough rows on every side. Checked before
/// anything is summed up.
template <Scan S>
bool ScanSplitter<S>::categories_large_enough() const {
    if (rules_.nominal_tests == NominalTests::nary) {
        return enough_branches(static_cast<std::size_t>(std::ranges::count_if(
            categories_, [&](const Category& one) { return one.rows >= scoring_.min_rows(); })));
    }
    // The largest category is on one side.
    const auto most = std::ranges::max_element(categories_, {}, &Category::rows);
    return known_rows_ - most->rows >= scoring_.min_rows();
}

template <Scan S>
bool ScanSplitter<S>::enough_branches(std::size_t n_large) const {
    return n_large >= scoring_.min_large_branches(categories_.size());
}

template <Scan S>
bool ScanSplitter<S>::sides_large_enough(double left_rows, double left_weight) const {
    const double rest = weight_ - left_weight;
    return left_rows >= scoring_.min_rows() && known_rows_ - left_rows >= scoring_.min_rows() &&
           left_weight >= scoring_.min_weight() && rest >= scoring_.min_weight() &&
           left_weight > 0 && rest > 0;
}

/// Two declared categories make one test, "is it the first?"; the stored one moves.
template <Scan S>
void ScanSplitter<S>::try_pair(const FeatureOrder& order, Split& best) {
    const Category& moved = categories_[common_ == 0 ? 1 : 0];
    for (auto k = moved.begin; k < moved.end; ++k) scan_.move(order.stored[k].entry);
    if (!sides_large_enough(moved.rows, scan_.left_weight())) return;
    const double gain = scan_.gain();
    const double score = scoring_.score(gain, scan_.left_weight());
    if (!scoring_.tolerance().better(score, best.score)) return;
    const char first[] = {1, 0};
    const double left = scan_.left_weight();
    accept_subset(score, gain, moved.code == 0 ? left : scan_.known_weight() - left, first, best);
}

/// Sums of every category. The one that is not stored gets what the others leave, unless all must
/// be summed up.
template <Scan S>
void ScanSplitter<S>::sum_categories(const FeatureOrder& order) {
    for (std::size_t k = 0; k < categories_.size(); ++k) {
        for (auto i = categories_[k].begin; i < categories_[k].end; ++i) {
            scan_.add(k, order.stored[i].entry);
        }
    }
    if (missing_at_ != none && missing_at_ != common_) {
        for (const auto entry : missing_) scan_.add(missing_at_, entry);
    }
    if (scoring_.sums_all_categories() && common_ != none) {
        add_unstored(order);
        scan_.complete(categories_.size());
    } else {
        scan_.complete(common_);
    }
}

template <Scan S>
void ScanSplitter<S>::add_unstored(const FeatureOrder& order) {
    std::vector<char> listed(rows_->size(), 0);
    for (const auto& item : order.stored) listed[item.entry] = 1;
    for (const auto entry : missing_) listed[entry] = 1;
    for (std::uint32_t entry = 0; entry < listed.size(); ++entry) {
        if (!listed[entry]) scan_.add(common_, entry);
    }
}

/// What sets of categories are compared by: the score, in CLUS with the operations of CLUS.
template <Scan S>
double ScanSplitter<S>::rank_of(std::size_t category, double score, double left_weight) const {
    if constexpr (requires { scan_.clus_score_with(category); }) {
        if (rules_.clus && score != rejected) {
            return scoring_.clus_ratio(scan_.clus_score_with(category), left_weight);
        }
    }
    return score;
}

/// Greedy forward selection: adds the category that helps most as long as one helps.
template <Scan S>
void ScanSplitter<S>::choose_subset(Split& best) {
    const double step = scoring_.subset_step();
    const bool single = rules_.nominal_tests == NominalTests::single;
    const auto n_declared = static_cast<std::size_t>(dataset_.features[feature_].n_categories);
    const std::size_t with_missing = missing_at_ != none;
    const std::size_t most = (single ? 1 : n_declared - 1) + with_missing;
    // One category, and missing values or not.
    const auto may_join = [&](std::size_t k, std::span<const char> chosen, std::size_t round) {
        return !single || round == 0 || k == missing_at_ || chosen[missing_at_];
    };
    std::vector<char> chosen(categories_.size(), 0);
    double best_score = rejected;
    double best_gain = 0;
    double best_rank = rejected;
    double left_rows = 0;
    for (std::size_t round = 0; round < most; ++round) {
        std::size_t pick = categories_.size();
        for (std::size_t k = 0; k < categories_.size(); ++k) {
            const double left = scan_.left_weight() + scan_.value_weight(k);
            if (chosen[k] || !may_join(k, chosen, round) ||
                !sides_large_enough(left_rows + categories_[k].rows, left)) {
                continue;
            }
            const double gain = scan_.gain_with(k);
            const double score = scoring_.score(gain, left);
            const double rank = rank_of(k, score, left);
            if (rank > best_rank + step) {
                best_score = score;
                best_gain = gain;
                best_rank = rank;
                pick = k;
            }
        }
        if (pick == categories_.size()) break;
        chosen[pick] = 1;
        left_rows += categories_[pick].rows;
        scan_.take(pick);
    }
    if (scoring_.tolerance().better(best_score, best.score)) {
        accept_subset(best_score, best_gain, scan_.left_weight(), chosen, best);
    }
}

/// Assigns each category that occurs to a random side; if all are on one side, moves one. Missing
/// values go to the better side.
template <Scan S>
void ScanSplitter<S>::choose_random_subset(SplitMix& random, Split& best) {
    std::vector<char> chosen(std::min(missing_at_, categories_.size()));
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
        left_rows += categories_[k].rows;
    }
    if (missing_at_ != none) {
        try_subset_with_missing(chosen, left_rows, best);
        return;
    }
    // take() updates the sums of the left side, so that gain() is that of the whole subset.
    if (!sides_large_enough(left_rows, scan_.left_weight())) return;
    const double gain = scan_.gain();
    const double score = scoring_.score(gain, scan_.left_weight());
    if (scoring_.tolerance().better(score, best.score)) {
        accept_subset(score, gain, scan_.left_weight(), chosen, best);
    }
}

/// Missing values join a subset that has been taken, or not.
template <Scan S>
void ScanSplitter<S>::try_subset_with_missing(std::vector<char>& chosen, double left_rows,
                                              Split& best) {
    chosen.push_back(0);
    const auto try_it = [&](double gain, double left_weight, double rows) {
        if (!sides_large_enough(rows, left_weight)) return;
        const double score = scoring_.score(gain, left_weight);
        if (scoring_.tolerance().better(score, best.score)) {
            accept_subset(score, gain, left_weight, chosen, best);
        }
    };
    const double left = scan_.left_weight();
    const double with = left + scan_.value_weight(missing_at_);
    const double gain = scan_.gain();
    const double gain_with = scan_.gain_with(missing_at_);
    const bool left_first = reaches(2 * left, weight_ - scan_.value_weight(missing_at_));
    if (!left_first) try_it(gain, left, left_rows);
    chosen.back() = 1;
    try_it(gain_with, with, left_rows + categories_[missing_at_].rows);
    chosen.back() = 0;
    if (left_first) try_it(gain, left, left_rows);
}

template <Scan S>
void ScanSplitter<S>::accept_subset(double score, double gain, double left_weight,
                                    std::span<const char> chosen, Split& best) const {
    best.feature = static_cast<std::int32_t>(feature_);
    best.score = score;
    best.gain = gain;
    best.threshold = 0;
    const double share = left_weight / weight_;
    best.share = {share, 1 - share};
    best.missing_branch = missing_at_ == none ? -1 : chosen[missing_at_] ? 0 : 1;
    // Declared categories that do not occur in the node go to the second branch.
    const auto n_declared = static_cast<std::size_t>(dataset_.features[feature_].n_categories);
    best.category_branch.assign(n_declared, 1);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (chosen[k] && k != missing_at_) best.category_branch[categories_[k].code] = 0;
    }
}

template <Scan S>
void ScanSplitter<S>::branch_on_all(Split& best) {
    const double known = scan_.known_weight();
    const auto n_declared = static_cast<std::size_t>(dataset_.features[feature_].n_categories);
    const bool any_empty = scoring_.branches_on_absent() && categories_.size() < n_declared;
    if (any_empty && scoring_.min_weight() > 0) return;
    std::vector<std::uint32_t> places(categories_.size());
    double information = 0;
    std::size_t n_large = 0;
    for (std::uint32_t k = 0; k < categories_.size(); ++k) {
        places[k] = k;
        const double weight = scan_.value_weight(k);
        if (weight <= 0) return;
        n_large += weight >= scoring_.min_weight() && categories_[k].rows >= scoring_.min_rows();
        information -= weight / known * std::log2(weight / known);
    }
    if (!enough_branches(n_large)) return;
    const double gain = scan_.gain_of_all(places);
    const double score = scoring_.score_of_branches(gain, information);
    if (!scoring_.tolerance().better(score, best.score)) return;
    best.feature = static_cast<std::int32_t>(feature_);
    best.score = score;
    best.gain = gain;
    best.threshold = 0;
    best.category_branch.assign(n_declared, -1);
    best.missing_branch = missing_at_ == none ? -1 : static_cast<std::int32_t>(missing_at_);
    best.share.clear();
    for (std::uint32_t k = 0; k < categories_.size(); ++k) {
        const auto code = categories_[k].code;
        if (code < n_declared) best.category_branch[code] = static_cast<std::int32_t>(k);
        best.share.push_back(scan_.value_weight(k) / known);
    }
}

#define RAMIFY_SPLITTER(SCAN) template class ScanSplitter<SCAN>;
RAMIFY_EVERY_SCAN(RAMIFY_SPLITTER)
#undef RAMIFY_SPLITTER

}  // namespace ramify
