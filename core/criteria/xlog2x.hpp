// x log2 x, the terms of entropies.
#pragma once

#include <cmath>
#include <cstddef>
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

}  // namespace ramify
