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
void move_by_kernel(const KernelMoves& moves, const RankedEntry* items, std::size_t n,
                    double* __restrict square, double* __restrict cross) {
    double* __restrict left = moves.left;
    const std::size_t stride = moves.stride;
    double square_sum = 0;
    double cross_sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t e = items[k].entry;
        const double v = moves.weight[e];
        const double* __restrict row = moves.cells + e * stride;
        square_sum += v * (2 * left[e] + v * row[e]);
        cross_sum += v * moves.cross[e];
        square[k] = square_sum;
        cross[k] = cross_sum;
        for (std::size_t j = 0; j < stride; j += simd_block) {
            for (std::size_t t = 0; t < simd_block; ++t) left[j + t] += v * row[j + t];
        }
    }
}

RAMIFY_ANY_WIDTH
void write_gains(const VarianceKnown& known, std::size_t n, const double* __restrict square,
                 const double* __restrict cross, const double* __restrict weight,
                 double* __restrict gain) {
    for (std::size_t k = 0; k < n; ++k) {
        const double rest = known.square - 2 * cross[k] + square[k];
        gain[k] = square[k] / weight[k] + rest / (known.weight - weight[k]) - known.part;
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
