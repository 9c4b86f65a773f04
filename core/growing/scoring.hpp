// How tests are scored and which are allowed, by the usual conventions, CLUS's or C4.5's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "common/tolerance.hpp"
#include "data/dataset.hpp"
#include "growing/options.hpp"
#include "growing/split.hpp"

namespace ramify {

/// Whether rows with a missing value differ from others: a test that separates them removes `gain`
/// of a sum of squares, among `n_rows` rows of whatever weight. If values were missing by chance,
/// F would be about 1; with many labels it varies little around that.
inline bool is_evidence(double gain, double squares, double n_rows) {
    constexpr double least = 2.5;  // chosen on data sets with values missing by chance and not
    const double freedom = n_rows - 2;
    return freedom > 0 && gain * (freedom + least) > least * squares * (1 + relative_tolerance);
}

/// How the best tests of the features of a node compete.
enum class Competition : std::uint8_t {
    apart,     // each was found as if its feature were the only one
    in_turn,   // each had to beat those of the features before it (CLUS)
    by_ratio,  // by their gain ratios, see choose_by_ratio() (C4.5)
};

/// What SplitRules say of one node after the other and, in it, one feature after the other. No
/// other part of the search for tests asks whose conventions it follows.
class Scoring {
  public:
    explicit Scoring(const SplitRules& rules);

    Competition competition() const;
    /// Per branch, up to rounding; CLUS compares weights without a tolerance.
    double min_rows() const { return min_rows_; }
    double min_weight() const { return min_weight_; }
    const ScoreTolerance& tolerance() const { return tolerance_; }

    void begin_node(double impurity);
    /// Weight, and weight times impurity, of the entries with a known value. Returns whether any
    /// test could be allowed.
    bool begin_feature(double known_weight, double known_impurity);

    /// Whether every score is score_of_gain(gain).
    bool is_gain() const { return !rules_.gain_ratio && !rules_.mean_score; }
    double score_of_gain(double gain) const { return gain * rules_.score_factor; }
    /// Whether tests that cannot have the largest gain need not be scored: CLUS's choice among
    /// nearly equal scores depends on all of them.
    bool ignores_small_gains() const { return is_gain() && !rules_.clus; }
    /// The score of a test with two branches, or `rejected`.
    double score(double gain, double left_weight) const {
        const double score = score_before_ratio(gain);
        if (!rules_.gain_ratio || score == rejected) return score;
        return ratio(score, split_information(left_weight / known_weight_));
    }
    /// The same of a test whose branches have this entropy, in bits.
    double score_of_branches(double gain, double information) const {
        const double score = score_before_ratio(gain);
        return rules_.gain_ratio && score != rejected ? ratio(score, information) : score;
    }

    /// The score of CLUS for a test with two branches, divided by the split information of CLUS
    /// for gain ratios.
    double clus_ratio(double score, double left_weight) const {
        if (!rules_.gain_ratio) return score;
        const double left = left_weight / known_weight_;
        const double rest = (known_weight_ - left_weight) / known_weight_;
        const double terms = left * std::log(left) + rest * std::log(rest);
        return score / (-terms / std::numbers::ln2);
    }

    /// Rows that each side of a test of a numeric feature must have.
    double min_rows_of(const Feature& feature, double known_rows, double n_classes) const;
    /// Subtracts what the choice of the threshold among many costs from the score of a test.
    void pay_threshold(std::size_t n_tried, Split& best) const;

    /// By how much another category must improve a subset.
    double subset_step() const { return rules_.clus ? 0 : tolerance_.step; }
    /// Whether the category that is not stored must be summed up like the others.
    bool sums_all_categories() const { return rules_.clus; }
    /// How many branches of a test with `n` must be large enough, and whether categories that do
    /// not occur in the node have a branch too.
    std::size_t min_large_branches(std::size_t n) const { return rules_.c45 ? 2 : n; }
    bool branches_on_absent() const { return rules_.clus; }

  private:
    /// A ratio is not used if the split information is below this.
    static constexpr double min_information = 1e-6;

    static double split_information(double p) {
        return p <= 0 || p >= 1 ? 0 : -p * std::log2(p) - (1 - p) * std::log2(1 - p);
    }
    static double ratio(double score, double information) {
        return information < min_information ? rejected : score / information;
    }
    double score_before_ratio(double gain) const {
        if (!(gain <= gain_ceiling_) || gain < gain_floor_ ||
            (gain_floor_ > 0 && gain == gain_floor_)) {
            return rejected;
        }
        double score = score_of_gain(gain);
        if (!is_gain()) score /= known_weight_;
        return score > 0 && score >= tolerance_.floor ? score : rejected;
    }
    void set_gain_floor(double impurity);

    const SplitRules& rules_;
    double min_rows_;
    double min_weight_;
    ScoreTolerance tolerance_;
    double known_weight_ = 0;
    double gain_floor_ = 0;    // what the F-test requires
    double gain_ceiling_ = 0;  // no gain exceeds the impurity of the known entries
};

}  // namespace ramify
