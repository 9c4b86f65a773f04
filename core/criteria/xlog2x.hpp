// x log2 x, the terms of entropies.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace ramify {

/// x log2 x for one x, 0 for x <= 0; from a table for small integers, the sums of unit weights.
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

/// Replaces each of n numbers x by x log2 x, 0 for x <= 0. Much faster than one at a time; results
/// may differ from the above in the last bits.
void replace_by_xlog2x(double* values, std::size_t n);

/// The entropies of many labels on both sides of a test, for weights of any kind. The terms of the
/// entries with a label change only when such an entry moves; those of the entries without it
/// change with every entry, and are computed for several labels at once.
class LabelEntropies {
  public:
    /// A new node.
    void reset(std::span<const double> label_weight);
    /// A new feature: nothing has moved. `known`: per label, the weight of the entries with it.
    void begin(std::span<const double> known);
    /// An entry of this weight with the label moves to the left.
    void move(std::size_t label, double weight);
    /// Sum over both sides and all labels of label weight times side weight times entropy.
    double impurity(double left_weight, double known_weight) const;

  private:
    // Per label, padded with labels of weight 0.
    std::vector<double> label_weight_;
    std::vector<double> left_;
    std::vector<double> known_;
    std::vector<double> positive_;  // x log2 x of the weight with the label, sum of both sides
};

}  // namespace ramify
