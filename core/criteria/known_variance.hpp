// The HMC variance of labels that are not known for some rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "criteria/scan.hpp"
#include "data/unknown.hpp"

namespace ramify {

/// Sum_c w_c (S_c - S_c^2 / W_c), where W_c is the weight of the rows that know label c, and S_c
/// the weight of those that have it. With S' and W' of the left side, the gain of a test is
///   sum_c w_c (S'^2 / W' + (S - S')^2 / (W - W') - S^2 / W),
/// which is never negative; a side that knows nothing of a label adds nothing.
///
/// Only labels that a row of the node has count. Those that the same rows of the node know form a
/// group, with the sums Q = sum w S'^2 and X = sum w S S': an entry changes Q and X at the cost of
/// its own labels, and the weights at the cost of the groups that it does not know. A gain costs
/// all groups; where everything is known, there is one.
class KnownVarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = false;

    explicit KnownVarianceScan(const Targets& targets);

    void reset(const NodeRows& rows, const NodeLabels& labels = {});
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const;
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&&, Visit&& visit) {
        sweep_items(items, next_rank, limits, *this, visit);
    }
    double known_impurity() const { return known_impurity_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    /// A label, or a group of labels, per number; see local_.
    struct LabelCount {
        double total = 0;
        double unknown = 0;
        std::uint64_t signature = 0;  // sum of keys of the rows that do not know the label
    };
    static constexpr std::uint32_t not_here = 0xFFFFFFFFu;

    std::size_t width() const { return label_weight_.size() + n_groups_; }
    std::span<const std::uint32_t> labels_of(std::uint32_t entry) const {
        return {ids_.data() + starts_[entry], starts_[entry + 1] - starts_[entry]};
    }
    std::span<const std::uint32_t> unknown_of(std::uint32_t entry) const {
        const auto pattern = pattern_[entry];
        return {unknown_.data() + unknown_starts_[pattern],
                unknown_starts_[pattern + 1] - unknown_starts_[pattern]};
    }
    void number_patterns(const NodeRows& rows);
    void number_labels(const NodeRows& rows);
    void group_labels();
    void list_unknown();
    /// Adds an entry to sums: of each label the weight that has it, of each group the weight that
    /// does not know it.
    void add_to(double* sums, std::uint32_t entry) const;
    double known_in(double weight, double unknown) const {
        const double known = weight - unknown;
        return known > noise_ ? known : 0;
    }
    /// Sum_c w_c S_c^2 / W_c, which is what the impurity lacks of sum_c w_c S_c.
    double squares(const double* sums, double weight) const;
    /// The gain with these sums on the left side.
    double gain_of(const double* left, double weight) const;

    const Targets& targets_;
    const UnknownLabels& unknown_labels_;
    double noise_ = 0;   // known weight that is as good as none
    double weight_ = 0;  // of all entries
    // The labels that entries have, renumbered, and their groups.
    std::vector<std::uint32_t> local_;  // per label of the targets; not_here outside of reset()
    std::vector<LabelCount> counts_;    // per renumbered label
    std::vector<std::int32_t> names_;   // per renumbered label: its number among the targets
    std::vector<double> label_weight_;  // per renumbered label
    std::vector<std::uint32_t> group_;  // per renumbered label
    std::size_t n_groups_ = 0;
    std::vector<std::size_t> starts_;  // per entry and one more: its labels, in ids_
    std::vector<std::uint32_t> ids_;
    std::vector<std::uint32_t> pattern_;        // per entry: its pattern among those of the node
    std::vector<std::uint32_t> local_pattern_;  // per pattern; not_here outside of reset()
    std::vector<std::uint32_t> node_patterns_;  // the patterns of the node
    std::vector<double> pattern_weight_;        // of their entries
    std::vector<std::uint64_t> pattern_key_;    // sum of the keys of their entries
    std::vector<std::size_t> unknown_starts_;   // their unknown groups, in unknown_
    std::vector<std::uint32_t> unknown_;
    // Sums over entries, first of labels, then of groups; see add_to().
    std::vector<double> node_;
    std::vector<double> known_;  // of entries with a value of the feature
    std::vector<double> left_;
    mutable std::vector<double> joined_;  // scratch
    std::vector<double> value_sums_;      // one row per category
    double known_impurity_ = 0;
    double known_squares_ = 0;
    // Per group: Q of the known entries, and Q and X of the left side.
    std::vector<double> known_square_;
    std::vector<double> left_square_;
    std::vector<double> left_cross_;
};

static_assert(Scan<KnownVarianceScan>);

}  // namespace ramify
