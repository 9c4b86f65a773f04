// Loops over vectors of floats. Their lengths are multiples of float_block. The result does not
// depend on the width of the processor's vectors: sums are kept in float_block separate lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

inline constexpr std::size_t float_block = 16;

/// The next multiple of float_block.
inline constexpr std::size_t padded(std::size_t n) {
    return (n + float_block - 1) / float_block * float_block;
}

/// to += from
void add_floats(float* to, const float* from, std::size_t n);

/// whole -= part
void subtract_floats(float* whole, const float* part, std::size_t n);

/// sums[target[i]] += table[row[i]] for all i: vectors of `width` floats, addressed by number.
void add_vectors(const float* table, const std::uint32_t* row, const std::uint32_t* target,
                 std::size_t n, std::size_t width, float* sums);

/// Squared lengths of both sides of every cut of a sequence of vectors. Vector i is
/// sums[bin[i]]; side `first` has vectors 0 to i and what `prefix` holds at the start, the other
/// side has the rest of `total`.
void measure_cuts(const float* sums, const std::uint8_t* bin, std::size_t n, std::size_t width,
                  const float* total, float* prefix, float* first, float* second);

/// The inner product.
float dot_floats(const float* a, const float* b, std::size_t n);

}  // namespace ramify
