// Sums over rows from which the impurity of several targets is computed.
//
// A row with an unknown value does not count for that target; the impurity is the mean over the
// targets with a known value. The terms are added up as CLUS does, target by target.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "criteria/xlog2x.hpp"
#include "data/target_table.hpp"

namespace ramify {

/// A target with less known weight than this on one side of a test has none: sums obtained by
/// subtraction are seldom exactly zero.
inline constexpr double smallest_known = 1e-9;

/// Mean over the targets of their weight times their variance.
/// Sums: of the values x, of x^2, and, if some are unknown, the weight of the known ones.
class NumericStatistic {
  public:
    static constexpr bool uses_logarithms = false;
    explicit NumericStatistic(const TargetTable& table) : table_(table) {}
    std::size_t width() const { return (table_.any_unknown ? 3 : 2) * table_.n_targets(); }
    void add(const double* values, double weight, double* sums) const;
    /// Weight times impurity; rest: of the right side of a test.
    double impurity(const double* sums, double weight, bool rest = false) const;

  private:
    const TargetTable& table_;
};

/// Mean over the targets of their weight times their Gini index or, by entropy, the sum of their
/// entropies in bits. Sums: the weight of each class, and, if some values are unknown, that of all
/// classes of each target.
template <bool by_entropy>
class NominalStatistic {
  public:
    static constexpr bool uses_logarithms = by_entropy;
    explicit NominalStatistic(const TargetTable& table) : table_(table) {}
    std::size_t width() const {
        return table_.n_columns() + (table_.any_unknown ? table_.n_targets() : 0);
    }
    void add(const double* values, double weight, double* sums) const;
    /// Likewise. The order of the factors is that of CLUS, which differs for the right side:
    /// categories that divide a node alike differ in rounding only.
    double impurity(const double* sums, double weight, bool rest = false) const;
    /// Sum of the entropies, each with the operations of CLUS.
    double clus_entropy(const double* sums, double weight) const;

  private:
    const TargetTable& table_;
    XLog2X xlog2x_;
};

}  // namespace ramify
