// The HMC variance of a few labels, of which each row has one or a few.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/scratch.hpp"
#include "common/simd.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_gain.hpp"
#include "data/label_sums.hpp"

namespace ramify {

/// As VarianceScan, with the sums of all labels of the fit in place of those of renumbered labels:
/// a node is ready after one pass over its entries. Every row has the same number of labels, which
/// fillers of weight zero make up.
class FewLabelsScan : public ScanBase {
  public:
    static constexpr Compression compression{};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = true;
    static double impurity_of(std::span<const LabelSum> sums, double weight);
    /// Whether there are few labels, and each of the rows has few of them.
    static bool suits(const Targets& targets, std::span<const std::uint32_t> rows);

    explicit FewLabelsScan(const Targets& targets);

    void reset(const NodeRows& rows, const NodeLabels& labels);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    /// Moves the items with a rank of at most `last` or, upward, the others. `unit`: every entry
    /// is one row of weight 1.
    void move_side(std::span<const RankedEntry> items, std::uint32_t last, bool upward, bool unit);
    double gain() const { return variance_gain(known_, left_square_, left_cross_, left_weight_); }
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&& worth, Visit&& visit);
    template <typename Worth, typename Visit>
    void sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                    const SweepLimits& limits, Worth&& worth, Visit&& visit);
    SquaredSums squares_of(std::span<const std::uint32_t> missing) {
        begin(missing);
        return {gain_of_missing(), node_mass_ - node_.part};
    }
    double gain_of_missing() const {
        return variance_gain(node_, missing_.square, missing_.cross, missing_.weight);
    }
    double known_impurity() const { return known_mass_ - known_.part; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    using Id = std::uint8_t;
    static constexpr std::size_t max_labels = 64;
    static constexpr std::size_t max_width = 4;

    std::size_t n_labels() const { return label_weight_.size() - max_width; }
    const Id* ids_of(std::uint32_t entry) const { return ids_.data() + entry * width_; }
    void add_to(double* sums, std::uint32_t entry) const {
        for (std::size_t t = 0; t < width_; ++t) sums[ids_of(entry)[t]] += weights_[entry];
    }
    double square_of(const double* sums) const;
    double cross_of(const double* sums) const;
    void begin_known();
    void sum_left() {
        left_square_ = square_of(left_.data());
        left_cross_ = cross_of(left_.data());
    }
    template <std::size_t width>
    void count_side(std::span<const RankedEntry> items, std::uint32_t last, bool upward);
    /// Moves items in order, `totals` being w T per label, and writes sums after each.
    std::size_t move_items(std::span<const RankedEntry> items, const double* totals,
                           double known_weight, const SweepLimits& limits);
    template <std::size_t width>
    void sum_items(std::span<const RankedEntry> items, const double* totals);

    std::vector<double> label_weight_;       // per label and filler, of which there are max_width
    std::size_t width_ = 1;                  // labels and fillers of a row
    std::vector<Id> of_row_;                 // `width_` per row
    Scratch<Id> ids_;                        // per entry
    std::vector<double> node_label_weight_;  // the same, 0 for labels that all entries have
    // Sums over labels: of the node, of the entries with a known value, of the left side.
    std::vector<double> totals_;
    std::vector<double> known_totals_;
    std::vector<double> left_;
    std::vector<double> weighted_;        // w T of the node
    std::vector<double> known_weighted_;  // of the known entries
    std::vector<double> missing_sums_;    // w M, see VarianceMissing
    std::vector<double> moved_;           // scratch: w S of a sweep
    std::vector<std::uint32_t> counts_;   // scratch: of count_side()
    VarianceKnown node_{};
    VarianceKnown known_{};
    VarianceMissing missing_;
    double node_mass_ = 0;
    double known_mass_ = 0;
    double left_square_ = 0;
    double left_cross_ = 0;
    bool all_known_ = false;  // whether the sums of the known entries are those of the node
    PrefixSums prefix_;
    std::vector<double> value_sums_;      // a row per category
    mutable std::vector<double> joined_;  // scratch: a category and the left side
};

template <typename Worth, typename Visit>
void FewLabelsScan::sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
                          const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    const std::size_t n = move_items(items, known_weighted_.data(), known_weight_, limits);
    if (n == 0) return;
    write_gains(known_, n, prefix_.square.data(), prefix_.cross.data(), prefix_.weight.data(),
                prefix_.gain.data());
    if (!worth(largest(prefix_.gain.data(), n))) return;
    prefix_.show(items, n, next_rank, limits, visit);
}

template <typename Worth, typename Visit>
void FewLabelsScan::sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                               const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    const std::size_t n = move_items(items, weighted_.data(), node_.weight, limits);
    if (n == 0) return;
    const std::size_t n_with = prefix_.cut_with(n, missing_.weight, node_.weight, limits);
    write_gains(node_, n, prefix_.square.data(), prefix_.cross.data(), prefix_.weight.data(),
                prefix_.gain.data());
    write_gains_with(missing_, node_, n_with, prefix_.square.data(), prefix_.cross.data(),
                     prefix_.weight.data(), prefix_.met.data(), prefix_.gain_with.data());
    if (!worth(largest(prefix_.gain.data(), n)) &&
        !(n_with > 0 && worth(largest(prefix_.gain_with.data(), n_with)))) {
        return;
    }
    prefix_.show_both(items, n, n_with, missing_.weight, next_rank, limits, visit);
}

static_assert(Scan<FewLabelsScan>);

}  // namespace ramify
