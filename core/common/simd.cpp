#include "common/simd.hpp"

#include <algorithm>
#include <limits>

namespace ramify {

RAMIFY_ANY_WIDTH
void add_scaled(double* __restrict to, const double* __restrict row, double factor,
                std::size_t n) {
    for (std::size_t j = 0; j < n; j += simd_block) {
        for (std::size_t t = 0; t < simd_block; ++t) to[j + t] += factor * row[j + t];
    }
}

RAMIFY_ANY_WIDTH
double largest(const double* values, std::size_t n) {
    double most[simd_block];
    std::fill_n(most, simd_block, -std::numeric_limits<double>::infinity());
    std::size_t j = 0;
    for (; j + simd_block <= n; j += simd_block) {
        for (std::size_t t = 0; t < simd_block; ++t) {
            most[t] = values[j + t] > most[t] ? values[j + t] : most[t];
        }
    }
    for (; j < n; ++j) most[0] = values[j] > most[0] ? values[j] : most[0];
    return *std::max_element(most, most + simd_block);
}

RAMIFY_ANY_WIDTH
void gather_shifted(const double* __restrict from, const std::uint32_t* __restrict index,
                    double row_shift, const double* __restrict shift, std::size_t n,
                    double* __restrict to) {
    for (std::size_t j = 0; j < n; ++j) to[j] = (from[index[j]] - row_shift) - shift[j];
}

RAMIFY_ANY_WIDTH
void find_places(const std::int32_t* __restrict keys, std::size_t n,
                 std::uint32_t* __restrict places) {
    for (std::size_t i = 0; i < n; i += place_block) {
        std::uint32_t smaller[place_block] = {};
        for (std::size_t k = 0; k < n; ++k) {
            const std::int32_t key = keys[k];
            for (std::size_t t = 0; t < place_block; ++t) smaller[t] += key < keys[i + t] ? 1 : 0;
        }
        for (std::size_t t = 0; t < place_block; ++t) places[i + t] = smaller[t];
    }
}

}  // namespace ramify
