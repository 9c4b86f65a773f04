// Gains of impurities that are quadratic forms: the variance, and half the mean squared distance.
#pragma once

#include <cstddef>

#include "data/dataset.hpp"

namespace ramify {

/// Q and sum w T of the known entries of a node, see VarianceScan.
struct VarianceMass {
    double square = 0;
    double mass = 0;
};

/// Sums over the known entries of a node: Q, W and Q / W.
struct VarianceKnown {
    double square;
    double weight;
    double part;
};

/// The gain of a test from Q1, X and W1 of its left side:
/// Q1 / W1 + (Q - 2 X + Q1) / (W - W1) - Q / W; see VarianceScan.
inline double variance_gain(const VarianceKnown& known, double square, double cross,
                            double weight) {
    const double rest = known.square - 2 * cross + square;
    return square / weight + rest / (known.weight - weight) - known.part;
}

/// Sums over the entries of a node whose value is missing, M being their S: Q, X and W.
struct VarianceMissing {
    double square = 0;
    double cross = 0;
    double weight = 0;
};

/// The gains of n tests.
void write_gains(const VarianceKnown& known, std::size_t n, const double* square,
                 const double* cross, const double* weight, double* gain);

/// The same if the missing values had moved before. met: sum w S M, which they add to Q1 twice.
void write_gains_with(const VarianceMissing& missing, const VarianceKnown& known, std::size_t n,
                      const double* square, const double* cross, const double* weight,
                      const double* met, double* gain);

/// Arrays for moving entries to the left side by a kernel, see VarianceScan.
struct KernelMoves {
    const double* cells;   // rows of `stride` cells
    std::size_t stride;    // a multiple of simd_block
    const double* cross;   // per entry: sum over the known entries of v times the cell
    const double* weight;  // per entry
    double* left;          // per entry: the same sum over the entries that have moved
};

/// Moves the items in order and writes Q1 and X after each.
void move_by_kernel(const KernelMoves& moves, const RankedEntry* items, std::size_t n,
                    double* square, double* cross);

}  // namespace ramify
