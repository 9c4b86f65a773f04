// The best (or a random) test of one node.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "criteria/criterion.hpp"
#include "criteria/distance.hpp"
#include "data/dataset.hpp"
#include "growing/orders.hpp"

namespace ramify {

enum class NominalTests : std::uint8_t {
    subset,  // x in a set of categories, found greedily
    single,  // x = one category
    nary,    // one branch per category
};

/// What a test must satisfy and how scores compete.
struct SplitRules {
    double min_weight = 0;           // per branch
    double min_samples_leaf = 1;     // rows per branch, rows split by a missing value in parts
    bool midpoint = true;            // thresholds halfway between values, or at the lower one
    bool random_thresholds = false;  // one random test per feature instead of all
    NominalTests nominal = NominalTests::subset;
    bool c45 = false;         // C4.5's conditions, see numeric_rows() and enough_branches()
    bool gain_ratio = false;  // divide by the split information
    bool mean_score = false;  // scores per unit of weight (CLUS's gain)
    double score_factor = 1;
    std::vector<double> f_critical;  // F-test: critical value per degrees of freedom; empty: off
    // CLUS compares with absolute tolerances, in the order of features and candidates.
    bool clus = false;
    double clus_floor = 1e-9;
    double clus_step = 1e-6;
};

/// A test with its score; feature -1: none.
struct Split {
    std::int32_t feature = -1;
    double score = -std::numeric_limits<double>::infinity();
    double gain = 0;
    std::uint32_t upper_rank = 0;  // numeric: the smallest value on the "yes" side
    std::uint32_t lower_rank = 0;  // numeric: the largest value on the "no" side
    double threshold = 0;          // numeric: set for random tests at once, else at the end
    std::vector<std::int32_t> category_branch;  // nominal: branch per code, -1: none
    std::vector<double> share;                  // per branch: its part of the known weight
};

/// The score of a test that is out of the question.
inline constexpr double rejected = -std::numeric_limits<double>::infinity();

/// Scores compete within these bounds; they depend on the node, not on the feature.
struct Tolerance {
    double floor = 0;  // a score below is rounding
    double step = 0;   // a score must beat the best by more than this

    bool better(double score, double best) const { return score > best + step; }
};

/// Scans of label sets must know these; the others learn all they need node by node.
template <typename Scan>
Scan make_scan(const Targets& targets) {
    if constexpr (Scan::by_sets) {
        return Scan(targets);
    } else {
        return Scan();
    }
}

/// Searches one feature after the other in one node. Not shared between threads.
template <typename Scan>
class Splitter {
  public:
    Splitter(const Dataset& dataset, const Targets& targets, const SplitRules& rules)
        : dataset_(dataset),
          rules_(rules),
          scan_(make_scan<Scan>(targets)),
          n_classes_(Scan::one_class ? static_cast<double>(targets.n_labels()) : 2.0),
          // Parts of rows add up with rounding: 5 x 0.2 is one row. CLUS does not care.
          least_rows_(rules.min_samples_leaf * (1 - 1e-9)),
          least_weight_(rules.clus ? rules.min_weight : rules.min_weight * (1 - 1e-9)) {
        if constexpr (Scan::uses_kernel) {
            if (rules.clus) scan_.sum_categories_as_clus(targets.n_labels());
        }
    }

    void reset(const NodeRows& rows, const NodeLabels& labels);
    const Tolerance& tolerance() const { return tolerance_; }
    double node_impurity() const { return node_impurity_; }
    /// Until the next reset, a feature whose scores are not better than this may be passed over.
    void set_bar(double score) { bar_ = score; }

    /// Replaces `best` by the feature's best test if that one is better.
    void search_numeric(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                        Split& best);
    void search_nominal(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                        Split& best);

  private:
    bool count_known(std::span<const RankedEntry> missing);
    bool worth_scanning();
    bool categories_large_enough() const;
    void list_categories(const FeatureOrder& order);
    void sum_categories(const FeatureOrder& order);
    void add_unstored(const FeatureOrder& order);
    void try_pair(const FeatureOrder& order, Split& best);
    void set_gain_floor();
    double score_without_ratio(double gain) const;
    double score_of(double gain, double left_weight) const;
    void consider(double score, double gain, double left_weight, std::uint32_t upper,
                  std::uint32_t lower, Split& best) const;
    bool may_divide_here(double left_rows) const;
    void scan_numeric(const Feature& feature, const FeatureOrder& order, bool has_zeros,
                      Split& best);
    void scan_down(std::span<const RankedEntry> stored, std::uint32_t next_rank, Split& best);
    void scan_negative(std::span<const RankedEntry> stored, std::uint32_t next_rank, Split& best);
    void try_random(const Feature& feature, const FeatureOrder& order, std::uint32_t zero_rank,
                    bool has_zeros, SplitMix& random, Split& best);
    void choose_subset(Split& best);
    void choose_random_subset(SplitMix& random, Split& best);
    void branch_on_all(Split& best);
    void accept_subset(double score, double gain, double left_weight, std::span<const char> chosen,
                       Split& best) const;
    bool sides_large_enough(double left_rows, double left_weight) const;
    bool enough_branches(std::size_t n_large) const;
    double numeric_rows(const Feature& feature) const;
    void pay_threshold(Split& best) const;

    const Dataset& dataset_;
    const SplitRules& rules_;
    const NodeRows* rows_ = nullptr;
    Scan scan_;
    double n_classes_;
    Tolerance tolerance_;
    double node_impurity_ = 0;
    double gain_floor_ = 0;    // of the current feature: what the F-test asks for
    double gain_ceiling_ = 0;  // no gain exceeds the impurity it is taken from
    double bar_ = rejected;
    double node_rows_ = 0;     // rows of the node, by parts
    bool by_part_ = false;     // the weights of its rows are their parts
    bool unit_ = false;        // all its rows are whole and have weight 1
    double known_rows_ = 0;    // those with a known value of the current feature
    std::size_t n_known_ = 0;  // the same in entries
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> missing_;
    double least_rows_;
    double least_weight_;
    double side_rows_ = 0;     // the same for the current numeric feature
    std::size_t n_tried_ = 0;  // its thresholds
    /// A category that occurs in the node: a run of the stored entries, or the rest (begin = end).
    struct Category {
        std::uint32_t code;
        std::size_t begin;
        std::size_t end;
        double rows;
    };
    std::vector<Category> categories_;  // by code
    std::size_t common_ = 0;            // the one that is not stored; size(): all are
    struct Candidate {
        double score;
        double gain;
        double left_weight;
        std::uint32_t upper;
        std::uint32_t lower;
    };
    std::vector<Candidate> upward_;
};

/// Threshold of a numeric test between two distinct values of its feature.
double threshold_between(double upper, double lower, bool midpoint);

}  // namespace ramify
