#include "criteria/variance_gain.hpp"

#include "common/simd.hpp"

namespace ramify {

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
        gain[k] = variance_gain(known, square[k], cross[k], weight[k]);
    }
}

RAMIFY_ANY_WIDTH
void write_gains_with(const VarianceMissing& missing, const VarianceKnown& known, std::size_t n,
                      const double* __restrict square, const double* __restrict cross,
                      const double* __restrict weight, const double* __restrict met,
                      double* __restrict gain) {
    for (std::size_t k = 0; k < n; ++k) {
        gain[k] = variance_gain(known, square[k] + 2 * met[k] + missing.square,
                                cross[k] + missing.cross, weight[k] + missing.weight);
    }
}

}  // namespace ramify
