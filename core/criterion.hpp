// Impurity of a growing left side. A scan moves entries from right to left one at a time and asks
// for the gain; each criterion does so at the cost its formula allows.
//
// All scans share one shape:
//   reset(labels, weights)       a new node
//   begin(missing)               a new feature; `missing` are the entries whose value is unknown
//   move(entry)                  one entry crosses
//   gain()                       impurity of the known entries minus that of both sides (a mass:
//                                weight times mean impurity)
//   begin_values(k, missing)     a new nominal feature, in place of begin()
//   add(value, entry)            sums per category
//   gain_with(v), take(v)        the same gain for left side + category v; v joins the left side
//   gain_of_all()                one branch per category
// "Left" is whatever has moved: gains are symmetric, so a scan may run from either end.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "node_labels.hpp"

namespace ramify {

/// What every scan knows: weights of the known entries and of the left side.
class ScanBase {
  public:
    double known_weight() const { return known_weight_; }
    double left_weight() const { return left_weight_; }
    double value_weight(std::size_t value) const { return value_weight_[value]; }

  protected:
    void reset_base(const NodeLabels& labels, std::span<const double> weights) {
        labels_ = &labels;
        weights_ = weights;
    }
    /// The entry's labels without the fillers.
    std::span<const std::uint32_t> ids(std::uint32_t entry) const {
        const auto begin = labels_->indptr[entry];
        auto end = labels_->indptr[entry + 1];
        while (end > begin && labels_->ids[end - 1] == labels_->n_local()) --end;
        return {labels_->ids.data() + begin, end - begin};
    }

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    double known_weight_ = 0;
    double left_weight_ = 0;
    std::vector<double> value_weight_;
};

/// Sum_c w_c p_c (1 - p_c): the HMC variance, and half the Gini index.
/// With class sums S (left), T (known), Q1 = sum w S^2, X = sum w T S:
///   gain = Q1/W1 + (Q - 2X + Q1)/W2 - Q/W,
/// and one entry changes Q1 and X at the cost of its own labels.
class VarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{true, true};
    static constexpr bool uses_gram = true;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    void reset(const NodeLabels& labels, std::span<const double> weights);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const { return gain_of(left_square_, left_cross_, left_weight_); }
    /// Weight times impurity of the known entries.
    double known_impurity() const { return known_mass_ - known_part_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    double gain_of(double square, double cross, double weight) const {
        const double rest = known_square_ - 2 * cross + square;
        return square / weight + rest / (known_weight_ - weight) - known_part_;
    }
    double square_with(std::size_t value) const;
    void begin_labels(std::span<const std::uint32_t> missing);
    void begin_gram(std::span<const std::uint32_t> missing);
    void move_gram(std::uint32_t entry);
    template <bool any_missing>
    void move_labels(std::uint32_t entry);
    const double* gram_row(std::uint32_t entry) const {
        return labels_->gram.data() + entry * labels_->gram_stride;
    }

    bool gram_ = false;            // scan by the node's Gram matrix instead of by labels
    std::vector<double> left_;     // w_c S_c per local label; by Gram: sum of left rows per entry
    std::vector<double> missing_;  // the same for the entries with an unknown value
    bool any_missing_ = false;
    double known_square_ = 0;
    double known_part_ = 0;  // known_square_ / known_weight_
    double known_mass_ = 0;
    double left_square_ = 0;
    double left_cross_ = 0;
    std::vector<double> value_sums_;  // S_vc, one row of local labels per category
    std::vector<double> value_square_;
    std::vector<double> value_cross_;
};

/// x log2 x, from a table for the small whole numbers that unit weights give.
class XLog2X {
  public:
    XLog2X();
    double operator()(double x) const {
        if (x <= 0) return 0;
        const auto whole = static_cast<std::size_t>(x);
        if (whole < table_.size() && static_cast<double>(whole) == x) return table_[whole];
        return x * std::log2(x);
    }

  private:
    std::vector<double> table_;
};

/// Entropy in bits, weighted and summed.
/// exclusive = false: sum over labels of w_c times the binary entropy of p_c. The total weight
/// enters every label's term, so a gain costs the node's (renumbered) labels.
/// exclusive = true: one variable, one class per entry: -sum_c p_c log2 p_c; a gain costs O(1).
template <bool exclusive>
class EntropyScan : public ScanBase {
  public:
    static constexpr Compression compression{!exclusive, false};
    static constexpr bool uses_gram = false;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    void reset(const NodeLabels& labels, std::span<const double> weights);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const;
    double known_impurity() const { return known_impurity_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    /// Weight times entropy of a part; sum(c) gives its weight with label c.
    template <typename Sum>
    double impurity(Sum sum, double weight) const;
    const double* value_sums(std::size_t value) const {
        return value_sums_.data() + value * labels_->n_local();
    }

    XLog2X xlog2x_;
    std::vector<double> left_;   // per local label
    std::vector<double> known_;  // per local label, over the entries with a known value
    double known_impurity_ = 0;
    double left_terms_ = 0;   // exclusive: sum of x log2 x over the left side's classes
    double right_terms_ = 0;  // exclusive: the same for the right side
    std::vector<double> value_sums_;
};

}  // namespace ramify
