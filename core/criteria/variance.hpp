// The HMC variance, and half the Gini index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/simd.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_as_clus.hpp"
#include "criteria/variance_by_kernel.hpp"
#include "criteria/variance_by_labels.hpp"
#include "criteria/variance_gain.hpp"
#include "data/label_sums.hpp"

namespace ramify {

/// Sum_c w_c p_c (1 - p_c): the HMC variance, and half the Gini index.
/// With class sums S (left), T (known), Q1 = sum w S^2, X = sum w T S:
///   gain = Q1/W1 + (Q - 2X + Q1)/W2 - Q/W,
/// and one entry changes Q1 and X at the cost of its own labels, or of a row of the node's kernel.
/// Here is how gains follow from these sums; the sums are left to a scan of either kind and, for
/// categories under CLUS's conventions, to a third.
class VarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{true, true};
    static constexpr bool uses_kernel = true;
    static constexpr bool uses_labels = true;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = true;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    explicit VarianceScan(const Targets& targets) : n_labels_(targets.n_labels()) {}

    void reset(const NodeRows& rows, const NodeLabels& labels);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const { return gain_of(left_square_, left_cross_, left_weight_); }
    /// `worth(gain)`: whether a candidate with a gain of at most this could be used.
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&& worth, Visit&& visit);
    SquaredSums squares_of(std::span<const std::uint32_t> missing) {
        begin(missing);
        const double mass = by_kernel_ ? labels_->kernel.mass : labels_->mass;
        return {gain_of_missing(), mass - node().part};
    }
    /// As sweep(), with the entries whose value is missing on either side:
    /// visit(k, next rank, weight moved without them, gain, gain if they had moved before), and
    /// -inf in place of the gain of a test with a side that is too small. The limits are those of
    /// the node; limits.moved_rows: rows with a missing value.
    template <typename Worth, typename Visit>
    void sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                    const SweepLimits& limits, Worth&& worth, Visit&& visit);
    /// The gain of the test whether the value is missing, after begin().
    double gain_of_missing() const {
        const VarianceMissing& missing = this->missing();
        return variance_gain(node(), missing.square, missing.cross, missing.weight);
    }
    /// Weight times impurity of the known entries.
    double known_impurity() const { return known_.mass - known_part_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry) {
        added_.push_back({static_cast<std::uint32_t>(value), entry});
    }
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    double clus_score_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    double gain_of(double square, double cross, double weight) const {
        return variance_gain({known_.square, known_weight_, known_part_}, square, cross, weight);
    }
    const VarianceMissing& missing() const {
        return by_kernel_ ? kernel_sums_.missing() : labels_sums_.missing();
    }
    /// Q, W and Q / W of all entries.
    VarianceKnown node() const {
        const double square = by_kernel_ ? labels_->kernel.square : labels_->square;
        return {square, labels_->weight, square / labels_->weight};
    }
    void begin_known(std::span<const std::uint32_t> missing, bool by_kernel);
    double square_with(std::size_t value) const;
    double value_square(std::size_t value) const;
    template <typename Sums>
    void sum_values(Sums& sums);
    void sum_values_as_clus(std::size_t value);
    void leave_rest_to(std::size_t value);

    std::size_t n_labels_;
    bool by_kernel_ = false;  // the sums of the current feature
    VarianceByLabels labels_sums_;
    VarianceByKernel kernel_sums_;
    VarianceAsClus clus_sums_;
    PrefixSums prefix_;
    VarianceMass known_;
    double known_part_ = 0;  // Q / W
    double left_square_ = 0;
    double left_cross_ = 0;
    std::vector<CategoryEntry> added_;
    std::vector<double> value_cross_;     // per category: sum of v times its entries' cross
    std::vector<double> value_products_;  // sum of v_i v_j [i, j] over two categories
    std::vector<double> left_products_;   // the same of the left side and a category
};

template <typename Worth, typename Visit>
void VarianceScan::sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
                         const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    // Pass by pass, each a plain loop: weights, Q1 and X, gains, and last the candidates.
    const std::size_t n = by_kernel_ ? kernel_sums_.move(items, known_weight_, limits, prefix_)
                                     : labels_sums_.move(items, known_weight_, limits, prefix_);
    if (n == 0) return;
    write_gains({known_.square, known_weight_, known_part_}, n, prefix_.square.data(),
                prefix_.cross.data(), prefix_.weight.data(), prefix_.gain.data());
    if (!worth(largest(prefix_.gain.data(), n))) return;
    prefix_.show(items, n, next_rank, limits, visit);
}

/// With S' = S + M the sums of the left side are Q1 + 2 sum w S M + QM and X + XM: both gains
/// follow from one pass over the labels, which has to add up sum w S M for X anyway.
template <typename Worth, typename Visit>
void VarianceScan::sweep_both(std::span<const RankedEntry> items, std::uint32_t next_rank,
                              const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    const VarianceKnown node = this->node();
    const VarianceMissing& missing = this->missing();
    const std::size_t n = by_kernel_ ? kernel_sums_.move(items, node.weight, limits, prefix_)
                                     : labels_sums_.move(items, node.weight, limits, prefix_);
    if (n == 0) return;
    const std::size_t n_with = prefix_.cut_with(n, missing.weight, node.weight, limits);
    // Moves counted X over the known entries.
    for (std::size_t k = 0; k < n; ++k) prefix_.cross[k] += prefix_.met[k];
    write_gains(node, n, prefix_.square.data(), prefix_.cross.data(), prefix_.weight.data(),
                prefix_.gain.data());
    write_gains_with(missing, node, n_with, prefix_.square.data(), prefix_.cross.data(),
                     prefix_.weight.data(), prefix_.met.data(), prefix_.gain_with.data());
    if (!worth(largest(prefix_.gain.data(), n)) &&
        !(n_with > 0 && worth(largest(prefix_.gain_with.data(), n_with)))) {
        return;
    }
    prefix_.show_both(items, n, n_with, missing.weight, next_rank, limits, visit);
}

static_assert(Scan<VarianceScan>);

}  // namespace ramify
