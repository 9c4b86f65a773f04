// Probabilities, gradients and losses, computed from margins one row at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "gradient_boosting/options.hpp"

namespace ramify {

/// The margin of outputs that only pad a row: their probability is 0.
inline constexpr float no_margin = -1e30F;

/// What softmax needs to know of a row: p = factor * exp(margin - largest).
struct Normaliser {
    float largest = 0;
    float factor = 1;
};

/// The normaliser of a row; `n` is a multiple of float_block, as everywhere below.
Normaliser normaliser_of(const float* margins, std::size_t n);

/// The probabilities of a row. The normaliser is not used for logistic loss.
void fill_probabilities(Loss loss, const float* margins, Normaliser normaliser, std::size_t n,
                        float* probabilities);

/// The probabilities of float_block rows with few outputs: the number of output k and row i is at
/// k * float_block + i. They are the same as those of padded rows.
void fill_few_probabilities(Loss loss, const float* margins, std::size_t n_outputs,
                            float* probabilities);

/// Adds `weight` times a row's gradient p and curvature p (1 - p) to the sums. The gradient of an
/// output that the row has is p - 1: the caller subtracts the weight from it.
void add_gradients(Loss loss, const float* margins, Normaliser normaliser, float weight,
                   std::size_t n, float* gradient, float* curvature);

/// The same with whole numbers, each rounded to the nearest: `weight` is a row's weight times a
/// power of two, at most 2^24. The sums of 64 rows fit.
void add_gradients(Loss loss, const float* margins, Normaliser normaliser, float weight,
                   std::size_t n, std::int32_t* gradient, std::int32_t* curvature);

/// A weight as it is subtracted from these sums.
template <typename Number>
Number weight_in(float weight) {
    if constexpr (std::is_integral_v<Number>) {
        return static_cast<Number>(weight + 0.5F);
    } else {
        return weight;
    }
}

/// The loss of a row: minus the logarithm of the probability of what it has, and for logistic
/// loss also of what it does not have. `has` lists outputs.
double row_loss(Loss loss, const float* margins, std::size_t n_outputs,
                std::span<const std::int32_t> has);

}  // namespace ramify
