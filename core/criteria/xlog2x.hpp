// x log2 x, of which entropies are made.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace ramify {

/// x log2 x for one x, 0 for x <= 0; from a table for the small whole numbers that unit weights
/// give.
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

/// Puts x log2 x in the place of each of n numbers x, 0 for x <= 0. Many at once take a fraction
/// of the time, and differ from the above in the last bits at most.
void replace_by_xlog2x(double* values, std::size_t n);

}  // namespace ramify
