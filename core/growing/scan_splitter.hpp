// The search for the best (or a random) test of a node, by the scan of a criterion.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "growing/options.hpp"
#include "growing/orders.hpp"
#include "growing/scans.hpp"
#include "growing/split.hpp"
#include "growing/splitter.hpp"

namespace ramify {

template <Scan S>
class ScanSplitter final : public Splitter {
  public:
    ScanSplitter(const Dataset& dataset, const Targets& targets, const SplitRules& rules)
        : Splitter(needs_of_scan(), rules),
          dataset_(dataset),
          rules_(rules),
          scan_(targets),
          n_classes_(S::one_class ? static_cast<double>(targets.n_labels()) : 2.0) {
        if (rules.clus) scan_.follow_clus();
    }

    void reset(const NodeRows& rows, const NodeLabels& labels) override;
    void search_numeric(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                        Split& best) override;
    void search_nominal(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                        Split& best) override;

  private:
    static constexpr Needs needs_of_scan() {
        Needs needs{S::compression, S::uses_kernel, S::uses_labels, nullptr};
        if constexpr (requires { &S::impurity_of; }) needs.impurity_of = &S::impurity_of;
        return needs;
    }
    bool count_known(std::span<const RankedEntry> missing);
    bool worth_scanning() {
        weight_ = scan_.known_weight();
        return scoring_.begin_feature(weight_, scan_.known_impurity());
    }
    bool categories_large_enough() const;
    void list_categories(const FeatureOrder& order);
    void sum_categories(const FeatureOrder& order);
    void add_unstored(const FeatureOrder& order);
    void try_pair(const FeatureOrder& order, Split& best);
    bool consider(double score, double gain, double left_weight, std::uint32_t upper,
                  std::uint32_t lower, Split& best) const;
    bool may_divide_here(double left_rows) const;
    void scan_numeric(const Feature& feature, const FeatureOrder& order, bool has_zeros,
                      Split& best);
    void scan_down(std::span<const RankedEntry> stored, std::uint32_t next_rank, Split& best);
    void scan_negative(std::span<const RankedEntry> stored, std::uint32_t next_rank, Split& best);
    /// A random threshold of a numeric feature, and what moved to either side of it.
    struct RandomThreshold {
        double threshold;
        std::uint32_t upper;  // rank
        std::uint32_t lower;
        bool upward;  // whether values at or below the threshold moved
        double moved_rows;
    };
    RandomThreshold move_at_random(const Feature& feature, const FeatureOrder& order,
                                   bool has_zeros, SplitMix& random);
    void move_side(std::span<const RankedEntry> items, std::uint32_t last, bool upward);
    double rows_moved(std::span<const RankedEntry> items, std::uint32_t last, bool upward) const;
    void try_random(const Feature& feature, const FeatureOrder& order, bool has_zeros,
                    SplitMix& random, Split& best);
    // With missing values that are sent to a branch; see learning.cpp.
    /// The gains of a place between two ranks, without and with the missing values on the side
    /// that moved; -inf: not allowed.
    struct BothGains {
        std::uint32_t here;
        std::uint32_t next;
        double moved;  // weight that moved, without missing values
        double gain;
        double gain_with;
    };
    bool learns() const { return rules_.missing != Missing::divide; }
    bool learns_from(const FeatureOrder& order);
    void take_all_rows();
    void learn_numeric(const Feature& feature, const FeatureOrder& order, SplitMix& random,
                       Split& best);
    void scan_both(std::span<const RankedEntry> items, std::uint32_t next_rank, bool upward,
                   Split& best);
    template <typename Worth, typename Visit>
    void sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                    SweepLimits limits, const Worth& worth, const Visit& visit);
    void try_random_both(const Feature& feature, const FeatureOrder& order, bool has_zeros,
                         SplitMix& random, Split& best);
    bool consider_both(const BothGains& both, bool upward, Split& best) const;
    void consider_missing(Split& best);
    void begin_both();
    double gain_of_missing();
    void add_missing_category();
    bool sides_large_enough(double left_rows, double left_weight) const;
    double rank_of(std::size_t category, double score, double left_weight) const;
    void choose_subset(Split& best);
    void choose_random_subset(SplitMix& random, Split& best);
    void try_subset_with_missing(std::vector<char>& chosen, double left_rows, Split& best);
    void branch_on_all(Split& best);
    void accept_subset(double score, double gain, double left_weight, std::span<const char> chosen,
                       Split& best) const;
    bool enough_branches(std::size_t n_large) const;

    const Dataset& dataset_;
    const SplitRules& rules_;
    const NodeRows* rows_ = nullptr;
    S scan_;
    double n_classes_;
    double node_rows_ = 0;  // rows of the node, by parts
    bool by_part_ = false;  // the weights of its rows equal their parts
    bool whole_ = false;    // all its rows are whole
    double node_weight_ = 0;
    double node_mass_ = 0;  // weight times impurity of the node, before the factor of scores
    // Of the rows that a test of the current feature divides between its branches: all, or those
    // with a value.
    double weight_ = 0;
    double known_rows_ = 0;
    std::size_t n_known_ = 0;  // entries with a value of the current feature
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> missing_;  // the other entries
    bool begun_ = false;                  // whether the scan has begun without them
    double missing_rows_ = 0;             // the same by parts
    double missing_weight_ = 0;
    double side_rows_ = 0;     // that each side of a test of the current numeric feature needs
    std::size_t n_tried_ = 0;  // number of its thresholds
    /// A category that occurs in the node: a run of the stored entries, or the rest (begin = end).
    struct Category {
        std::uint32_t code;
        std::size_t begin;
        std::size_t end;
        double rows;
    };
    std::vector<Category> categories_;  // by code; the last may stand for missing values
    static constexpr auto none = static_cast<std::size_t>(-1);
    std::size_t common_ = none;      // the one that is not stored
    std::size_t missing_at_ = none;  // the one that missing values are in
    struct Candidate {
        double score;
        double gain;
        double left_weight;
        std::uint32_t upper;
        std::uint32_t lower;
    };
    std::vector<Candidate> upward_;
    std::vector<BothGains> both_;
    std::vector<RankedEntry> reversed_;
};

}  // namespace ramify
