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
        if constexpr (S::uses_labels) needs.impurity_of = &S::impurity_of;
        return needs;
    }
    bool count_known(std::span<const RankedEntry> missing);
    bool worth_scanning() {
        return scoring_.begin_feature(scan_.known_weight(), scan_.known_impurity());
    }
    bool categories_large_enough() const;
    void list_categories(const FeatureOrder& order);
    void sum_categories(const FeatureOrder& order);
    void add_unstored(const FeatureOrder& order);
    void try_pair(const FeatureOrder& order, Split& best);
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

    const Dataset& dataset_;
    const SplitRules& rules_;
    const NodeRows* rows_ = nullptr;
    S scan_;
    double n_classes_;
    double node_rows_ = 0;     // rows of the node, by parts
    bool by_part_ = false;     // the weights of its rows equal their parts
    bool unit_ = false;        // all its rows are whole and have weight 1
    double known_rows_ = 0;    // those with a value of the current feature
    std::size_t n_known_ = 0;  // the same, counted in entries
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> missing_;
    double side_rows_ = 0;     // that each side of a test of the current numeric feature needs
    std::size_t n_tried_ = 0;  // number of its thresholds
    /// A category that occurs in the node: a run of the stored entries, or the rest (begin = end).
    struct Category {
        std::uint32_t code;
        std::size_t begin;
        std::size_t end;
        double rows;
    };
    std::vector<Category> categories_;  // by code
    std::size_t common_ = 0;            // the one that is not stored; size(): none
    struct Candidate {
        double score;
        double gain;
        double left_weight;
        std::uint32_t upper;
        std::uint32_t lower;
    };
    std::vector<Candidate> upward_;
};

}  // namespace ramify
