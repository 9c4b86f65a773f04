// The sums of VarianceScan from the kernel of a small node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "criteria/kernel.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_gain.hpp"

namespace ramify {

/// The same sums as VarianceByLabels, which see.
class VarianceByKernel {
  public:
    void reset(const Kernel& kernel, std::span<const double> weights);
    VarianceMass begin(std::span<const std::uint32_t> missing);
    const VarianceMissing& missing() const { return missing_sums_; }
    void move(std::uint32_t entry, double* square, double* cross);
    std::size_t move(std::span<const RankedEntry> items, double known_weight,
                     const SweepLimits& limits, PrefixSums& sums);

    double cross(std::uint32_t entry) const { return known_cross()[entry]; }
    void add_products(std::span<const CategoryEntry> entries, std::size_t n_categories,
                      std::vector<double>& products);

  private:
    const double* known_cross() const {
        return any_missing_ ? known_cross_.data() : kernel_->cross.data();
    }
    void move_all(std::span<const RankedEntry> items, double* square, double* cross);

    const Kernel* kernel_ = nullptr;
    std::span<const double> weights_;
    std::vector<double> left_;         // per entry: sum of the rows of the entries that have moved
    std::vector<double> missing_;      // the same of the entries with a missing value
    std::vector<double> known_cross_;  // the kernel's cross without those
    VarianceMissing missing_sums_;
    bool any_missing_ = false;
    std::vector<double> category_sums_;  // one row per category: the sum of its entries' rows
};

}  // namespace ramify
