#include "gradient_boosting/vectors.hpp"

#include "common/simd.hpp"

namespace ramify {

namespace {

/// The sum of the lanes, always in the same order.
inline float sum_lanes(float* lanes) {
    for (std::size_t half = float_block / 2; half > 0; half /= 2) {
        for (std::size_t t = 0; t < half; ++t) lanes[t] += lanes[t + half];
    }
    return lanes[0];
}

}  // namespace

RAMIFY_ANY_WIDTH
void add_floats(float* __restrict to, const float* __restrict from, std::size_t n) {
    for (std::size_t j = 0; j < n; j += float_block) {
        for (std::size_t t = 0; t < float_block; ++t) to[j + t] += from[j + t];
    }
}

RAMIFY_ANY_WIDTH
void subtract_floats(float* __restrict whole, const float* __restrict part, std::size_t n) {
    for (std::size_t j = 0; j < n; j += float_block) {
        for (std::size_t t = 0; t < float_block; ++t) whole[j + t] -= part[j + t];
    }
}

RAMIFY_ANY_WIDTH
void add_vectors(const float* __restrict table, const std::uint32_t* __restrict row,
                 const std::uint32_t* __restrict target, std::size_t n, std::size_t width,
                 float* __restrict sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const float* from = table + row[i] * width;
        float* to = sums + target[i] * width;
        for (std::size_t j = 0; j < width; j += float_block) {
            for (std::size_t t = 0; t < float_block; ++t) to[j + t] += from[j + t];
        }
    }
}

RAMIFY_ANY_WIDTH
void measure_cuts(const float* __restrict sums, const std::uint8_t* __restrict bin, std::size_t n,
                  std::size_t width, const float* __restrict total, float* __restrict prefix,
                  float* __restrict first, float* __restrict second) {
    for (std::size_t i = 0; i < n; ++i) {
        const float* from = sums + bin[i] * width;
        float a[float_block] = {};
        float b[float_block] = {};
        for (std::size_t j = 0; j < width; j += float_block) {
            for (std::size_t t = 0; t < float_block; ++t) {
                const float sum = prefix[j + t] + from[j + t];
                const float rest = total[j + t] - sum;
                prefix[j + t] = sum;
                a[t] += sum * sum;
                b[t] += rest * rest;
            }
        }
        first[i] = sum_lanes(a);
        second[i] = sum_lanes(b);
    }
}

RAMIFY_ANY_WIDTH
float dot_floats(const float* __restrict a, const float* __restrict b, std::size_t n) {
    float lanes[float_block] = {};
    for (std::size_t j = 0; j < n; j += float_block) {
        for (std::size_t t = 0; t < float_block; ++t) lanes[t] += a[j + t] * b[j + t];
    }
    return sum_lanes(lanes);
}

}  // namespace ramify
