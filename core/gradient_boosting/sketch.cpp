#include "gradient_boosting/sketch.hpp"

#include <algorithm>
#include <cmath>

#include "common/random.hpp"
#include "common/simd.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

RAMIFY_ANY_WIDTH
void multiply(const float* __restrict a, const float* __restrict b, float weight, std::size_t n,
              float* __restrict to) {
    for (std::size_t j = 0; j < n; ++j) to[j] = weight * (a[j] * b[j]);
}

/// sums += a * b
RAMIFY_ANY_WIDTH
void add_product(const float* __restrict a, const float* __restrict b, std::size_t n,
                 float* __restrict sums) {
    for (std::size_t j = 0; j < n; ++j) sums[j] += a[j] * b[j];
}

}  // namespace

Sketch::Sketch(std::span<const std::int32_t> order, std::span<const double> output_weight,
               std::size_t size) {
    scale_.reserve(order.size());
    for (const auto j : order) {
        scale_.push_back(
            static_cast<float>(std::sqrt(output_weight[static_cast<std::size_t>(j)])));
    }
    size = std::min(size, scale_.size());
    if (padded(scale_.size()) <= padded(size)) {
        n_single_ = padded(scale_.size());
        n_shared_ = 0;
        scale_.resize(n_single_, 0.0F);
    } else {
        n_shared_ = padded((size + 1) / 2);
        n_single_ = padded(size) > n_shared_ ? padded(size) - n_shared_ : 0;
        const auto n_blocks = (scale_.size() - n_single_ + n_shared_ - 1) / n_shared_;
        scale_.resize(n_single_ + n_blocks * n_shared_, 0.0F);
        shift_.resize(n_blocks, 0);
    }
    factor_ = scale_;
}

void Sketch::draw(std::uint64_t seed) {
    if (n_shared_ == 0) return;
    SplitMix random(seed);
    for (auto& shift : shift_) shift = random.below(static_cast<std::uint32_t>(n_shared_));
    std::uint64_t bits = 0;
    for (std::size_t j = n_single_; j < factor_.size(); ++j) {
        if ((j - n_single_) % 64 == 0) bits = random.next();
        factor_[j] = (bits & 1) != 0 ? scale_[j] : -scale_[j];
        bits >>= 1;
    }
}

void Sketch::apply(const float* gradient, float weight, float* summary) const {
    multiply(gradient, factor_.data(), weight, n_single_, summary);
    if (n_shared_ == 0) return;
    // Twice as long, so that blocks need not be wrapped around.
    thread_local std::vector<float> sums;
    sums.assign(2 * n_shared_, 0.0F);
    for (std::size_t b = 0; b < shift_.size(); ++b) {
        const auto first = n_single_ + b * n_shared_;
        add_product(gradient + first, factor_.data() + first, n_shared_, sums.data() + shift_[b]);
    }
    for (std::size_t t = 0; t < n_shared_; ++t) {
        summary[n_single_ + t] = weight * (sums[t] + sums[n_shared_ + t]);
    }
}

}  // namespace ramify
