// The HMC variance, and half the Gini index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/simd.hpp"
#include "criteria/label_moves.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_gain.hpp"
#include "data/label_sums.hpp"

namespace ramify {

/// Sum_c w_c p_c (1 - p_c): the HMC variance, and half the Gini index.
/// With class sums S (left), T (known), Q1 = sum w S^2, X = sum w T S:
///   gain = Q1/W1 + (Q - 2X + Q1)/W2 - Q/W,
/// and one entry changes Q1 and X at the cost of its own labels.
class VarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{true, true};
    static constexpr bool uses_kernel = true;
    static constexpr bool uses_labels = true;
    static constexpr bool one_class = false;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    explicit VarianceScan(const Targets&) {}

    void reset(const NodeRows& rows, const NodeLabels& labels);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const { return gain_of(left_square_, left_cross_, left_weight_); }
    /// `worth(gain)`: whether a candidate with a gain of at most this could be used.
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&& worth, Visit&& visit);
    /// Weight times impurity of the known entries.
    double known_impurity() const { return known_mass_ - known_part_; }

    /// Sums over categories run in the order of the labels, which must not be compressed.
    void sum_categories_as_clus(std::size_t n_labels) {
        as_clus_ = true;
        n_labels_ = static_cast<double>(n_labels);
    }
    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    double gain_of(double square, double cross, double weight) const {
        return variance_gain({known_square_, known_weight_, known_part_}, square, cross, weight);
    }
    double square_with(std::size_t value) const;
    double gain_as_clus(std::size_t value) const;
    double value_square(std::size_t value) const;
    double known_cross(std::uint32_t entry) const;
    void begin_values_as_clus(std::size_t n_values, std::span<const std::uint32_t> missing);
    void complete_as_clus(std::size_t value);
    void multiply_by_labels();
    void forget_label_sums(std::size_t n_seen, std::size_t stride);
    void multiply_by_kernel();
    void leave_rest_to(std::size_t value);
    void begin_labels(std::span<const std::uint32_t> missing);
    void begin_kernel(std::span<const std::uint32_t> missing);
    void begin_weights(std::span<const std::uint32_t> missing);
    /// Moves items in order while enough is left, writes the sums after each of them, and returns
    /// how many have moved.
    std::size_t sum_up(std::span<const RankedEntry> items, const SweepLimits& limits);
    void move_items(std::span<const RankedEntry> items, double* square, double* cross);

    bool by_kernel_ = false;           // scan by the node's kernel instead of by labels
    bool as_clus_ = false;             // categories are summed up as CLUS does
    double n_labels_ = 1;              // as CLUS: of all labels, even if no entry has them
    LabelMoves moves_;                 // numeric features, by labels
    std::vector<double> left_;         // by kernel: sum of left rows per entry; as CLUS: S_c
    std::vector<double> missing_;      // w_c S_c or that sum over entries with a missing value
    std::vector<double> known_cross_;  // by kernel: its cross without those entries
    bool any_missing_ = false;
    PrefixSums prefix_;
    double known_square_ = 0;
    double known_part_ = 0;  // known_square_ / known_weight_
    double known_mass_ = 0;
    double left_square_ = 0;
    double left_cross_ = 0;
    struct Added {
        std::uint32_t value;
        std::uint32_t entry;
    };
    std::vector<Added> added_;            // entries with their category
    std::vector<double> value_cross_;     // per category: sum of v times its entries' cross
    std::vector<double> value_products_;  // sum of v_i v_j [i, j] over two categories
    std::vector<double> left_products_;   // the same of the left side and a category
    // One row per category. By kernel: the sum of its entries' rows; as CLUS: S_vc of the labels.
    std::vector<double> value_sums_;
    std::vector<double> label_sums_;     // otherwise, one row per label: S_vc of the categories
    std::vector<double> label_weight_;   // per label and filler
    bool label_weights_listed_ = false;  // of the current node
    std::vector<double> met_;            // per pair of categories: entries times those before them
    std::vector<double> known_;          // as CLUS: T_c over the entries with a known value
};

template <typename Worth, typename Visit>
void VarianceScan::sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
                         const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    // Pass by pass, each a plain loop: weights, Q1 and X, gains, and last the candidates.
    const std::size_t n = sum_up(items, limits);
    if (n == 0) return;
    write_gains({known_square_, known_weight_, known_part_}, n, prefix_.square.data(),
                prefix_.cross.data(), prefix_.weight.data(), prefix_.gain.data());
    if (!worth(largest(prefix_.gain.data(), n))) return;
    prefix_.show(items, n, next_rank, limits, visit);
}

static_assert(Scan<VarianceScan>);

}  // namespace ramify
