#include "criteria/variance_by_kernel.hpp"

#include <algorithm>

#include "common/simd.hpp"

namespace ramify {

void VarianceByKernel::reset(const Kernel& kernel, std::span<const double> weights) {
    kernel_ = &kernel;
    weights_ = weights;
    left_.resize(kernel.stride);
    missing_.resize(kernel.stride);
    known_cross_.resize(kernel.stride);
}

VarianceMass VarianceByKernel::begin(std::span<const std::uint32_t> missing) {
    const Kernel& kernel = *kernel_;
    VarianceMass known{kernel.square, kernel.mass};
    any_missing_ = !missing.empty();
    std::fill_n(left_.begin(), kernel.stride, 0.0);
    missing_sums_ = {};
    if (!any_missing_) return known;
    std::fill_n(missing_.begin(), kernel.stride, 0.0);
    for (const auto entry : missing) {
        const double v = weights_[entry];
        const double own = kernel.row(entry)[entry];
        known.mass -= v * own;
        const double square = v * (2 * missing_[entry] + v * own);
        known.square += square - 2 * v * kernel.cross[entry];
        missing_sums_.square += square;
        missing_sums_.cross += v * kernel.cross[entry];
        missing_sums_.weight += v;
        add_scaled(missing_.data(), kernel.row(entry), v, kernel.stride);
    }
    for (std::size_t e = 0; e < kernel.stride; ++e) {
        known_cross_[e] = kernel.cross[e] - missing_[e];
    }
    return known;
}

void VarianceByKernel::move(std::uint32_t entry, double* square, double* cross) {
    const RankedEntry item{entry, 0};
    move_all({&item, 1}, square, cross);
}

std::size_t VarianceByKernel::move(std::span<const RankedEntry> items, double known_weight,
                                   const SweepLimits& limits, PrefixSums& sums) {
    const auto n = limits.unit ? sums.count(items.size(), known_weight, limits)
                               : sums.weigh(items, weights_, known_weight, limits);
    sums.make_room(n);
    move_all(items.first(n), sums.square.data(), sums.cross.data());
    if (any_missing_) {
        double met = 0;
        for (std::size_t k = 0; k < n; ++k) {
            met += weights_[items[k].entry] * missing_[items[k].entry];
            sums.met[k] = met;
        }
    }
    return n;
}

void VarianceByKernel::move_all(std::span<const RankedEntry> items, double* square,
                                double* cross) {
    const KernelMoves moves{kernel_->cells.data(), kernel_->stride, known_cross(), weights_.data(),
                            left_.data()};
    move_by_kernel(moves, items.data(), items.size(), square, cross);
}

void VarianceByKernel::add_products(std::span<const CategoryEntry> entries,
                                    std::size_t n_categories, std::vector<double>& products) {
    const std::size_t stride = kernel_->stride;
    category_sums_.assign(n_categories * stride, 0.0);
    for (const auto& [category, entry] : entries) {
        add_scaled(category_sums_.data() + category * stride, kernel_->row(entry), weights_[entry],
                   stride);
    }
    for (const auto& [own, entry] : entries) {
        double* row = products.data() + own * n_categories;
        for (std::size_t v = 0; v < n_categories; ++v) {
            row[v] += weights_[entry] * category_sums_[v * stride + entry];
        }
    }
}

}  // namespace ramify
