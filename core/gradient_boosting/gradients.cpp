#include "gradient_boosting/gradients.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/lanes.hpp"
#include "common/simd.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

/// The exponential function for arguments between -87 and 87, to 2e-7 of its value: a power of two
/// times the Taylor series of the rest. Written so that compilers can vectorise it; not std::exp,
/// whose last bit differs between platforms.
RAMIFY_INSIDE float exp_of(float x) {
    constexpr float log2_of_e = 1.44269504F;
    constexpr float ln2_high = 0.693359375F;  // few bits: n * ln2_high is exact
    constexpr float ln2_low = -2.12194440e-4F;
    constexpr float round = 12582912.0F;  // adding 1.5 * 2^23 leaves no bits after the point
    const float n = (x * log2_of_e + round) - round;
    const float r = (x - n * ln2_high) - n * ln2_low;
    float series = 1.0F / 720;
    series = series * r + 1.0F / 120;
    series = series * r + 1.0F / 24;
    series = series * r + 1.0F / 6;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    const auto power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    return series * power;
}

RAMIFY_INSIDE float clamp(float x, float most) {
    x = x < -most ? -most : x;
    return x > most ? most : x;
}

RAMIFY_INSIDE float logistic(float margin) {
    return 1.0F / (1.0F + exp_of(clamp(-margin, 40.0F)));
}

RAMIFY_INSIDE float share(float margin, Normaliser normaliser) {
    return normaliser.factor * exp_of(clamp(margin - normaliser.largest, 80.0F));
}

RAMIFY_ANY_WIDTH
void fill_logistic(const float* __restrict margins, std::size_t n, float* __restrict to) {
    for (std::size_t j = 0; j < n; ++j) to[j] = logistic(margins[j]);
}

RAMIFY_ANY_WIDTH
void fill_softmax(const float* __restrict margins, Normaliser normaliser, std::size_t n,
                  float* __restrict to) {
    for (std::size_t j = 0; j < n; ++j) to[j] = share(margins[j], normaliser);
}

RAMIFY_ANY_WIDTH
void add_logistic(const float* __restrict margins, float weight, std::size_t n,
                  float* __restrict gradient, float* __restrict curvature) {
    for (std::size_t j = 0; j < n; ++j) {
        const float p = logistic(margins[j]);
        gradient[j] += weight * p;
        curvature[j] += weight * (p * (1.0F - p));
    }
}

RAMIFY_ANY_WIDTH
void add_softmax(const float* __restrict margins, Normaliser normaliser, float weight,
                 std::size_t n, float* __restrict gradient, float* __restrict curvature) {
    for (std::size_t j = 0; j < n; ++j) {
        const float p = share(margins[j], normaliser);
        gradient[j] += weight * p;
        curvature[j] += weight * (p * (1.0F - p));
    }
}

RAMIFY_ANY_WIDTH
void add_rounded_logistic(const float* __restrict margins, float weight, std::size_t n,
                          std::int32_t* __restrict gradient, std::int32_t* __restrict curvature) {
    for (std::size_t j = 0; j < n; ++j) {
        const float p = logistic(margins[j]);
        gradient[j] += static_cast<std::int32_t>(weight * p + 0.5F);
        curvature[j] += static_cast<std::int32_t>(weight * (p * (1.0F - p)) + 0.5F);
    }
}

RAMIFY_ANY_WIDTH
void add_rounded_softmax(const float* __restrict margins, Normaliser normaliser, float weight,
                         std::size_t n, std::int32_t* __restrict gradient,
                         std::int32_t* __restrict curvature) {
    for (std::size_t j = 0; j < n; ++j) {
        const float p = share(margins[j], normaliser);
        gradient[j] += static_cast<std::int32_t>(weight * p + 0.5F);
        curvature[j] += static_cast<std::int32_t>(weight * (p * (1.0F - p)) + 0.5F);
    }
}

RAMIFY_ANY_WIDTH
float sum_of_shares(const float* __restrict margins, Normaliser normaliser, std::size_t n) {
    float lanes[float_block] = {};
    for (std::size_t j = 0; j < n; j += float_block) {
        for (std::size_t t = 0; t < float_block; ++t)
            lanes[t] += share(margins[j + t], normaliser);
    }
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    return sum;
}

/// As normaliser_of and fill_softmax for each of float_block rows.
RAMIFY_ANY_WIDTH
void fill_few_softmax(const float* __restrict margins, std::size_t n_outputs,
                      float* __restrict to) {
    float largest[float_block];
    float sum[float_block] = {};
    for (std::size_t i = 0; i < float_block; ++i) largest[i] = margins[i];
    for (std::size_t k = 1; k < n_outputs; ++k) {
        for (std::size_t i = 0; i < float_block; ++i) {
            const float margin = margins[k * float_block + i];
            largest[i] = largest[i] < margin ? margin : largest[i];
        }
    }
    for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t i = 0; i < float_block; ++i) {
            const auto at = k * float_block + i;
            to[at] = exp_of(clamp(margins[at] - largest[i], 80.0F));
            sum[i] += to[at];
        }
    }
    for (std::size_t i = 0; i < float_block; ++i) sum[i] = 1.0F / sum[i];
    for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t i = 0; i < float_block; ++i) to[k * float_block + i] *= sum[i];
    }
}

}  // namespace

void fill_few_probabilities(Loss loss, const float* margins, std::size_t n_outputs,
                            float* probabilities) {
    if (loss == Loss::logistic) {
        fill_logistic(margins, n_outputs * float_block, probabilities);
    } else {
        fill_few_softmax(margins, n_outputs, probabilities);
    }
}

void fill_probabilities(Loss loss, const float* margins, Normaliser normaliser, std::size_t n,
                        float* probabilities) {
    if (loss == Loss::logistic) {
        fill_logistic(margins, n, probabilities);
    } else {
        fill_softmax(margins, normaliser, n, probabilities);
    }
}

Normaliser normaliser_of(const float* margins, std::size_t n) {
    const float largest = *std::max_element(margins, margins + n);
    return {largest, 1.0F / sum_of_shares(margins, {largest, 1.0F}, n)};
}

void add_gradients(Loss loss, const float* margins, Normaliser normaliser, float weight,
                   std::size_t n, float* gradient, float* curvature) {
    if (loss == Loss::logistic) {
        add_logistic(margins, weight, n, gradient, curvature);
    } else {
        add_softmax(margins, normaliser, weight, n, gradient, curvature);
    }
}

void add_gradients(Loss loss, const float* margins, Normaliser normaliser, float weight,
                   std::size_t n, std::int32_t* gradient, std::int32_t* curvature) {
    if (loss == Loss::logistic) {
        add_rounded_logistic(margins, weight, n, gradient, curvature);
    } else {
        add_rounded_softmax(margins, normaliser, weight, n, gradient, curvature);
    }
}

double row_loss(Loss loss, const float* margins, std::size_t n_outputs,
                std::span<const std::int32_t> has) {
    if (loss == Loss::softmax) {
        const auto [largest, factor] = normaliser_of(margins, padded(n_outputs));
        double sum = 0;
        for (const auto j : has) {
            sum +=
                static_cast<double>(largest - margins[j]) - std::log(static_cast<double>(factor));
        }
        return sum;
    }
    // -log(1 - p) = log(1 + exp(margin)); the product of several factors needs one logarithm.
    constexpr std::size_t at_once = 8;
    double sum = 0;
    for (std::size_t first = 0; first < n_outputs; first += at_once) {
        double product = 1;
        for (std::size_t j = first; j < std::min(first + at_once, n_outputs); ++j) {
            product *= 1.0 + static_cast<double>(exp_of(clamp(margins[j], 40.0F)));
        }
        sum += std::log(product);
    }
    for (const auto j : has) sum -= static_cast<double>(clamp(margins[j], 40.0F));
    return sum;
}

}  // namespace ramify
