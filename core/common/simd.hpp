// Loops that benefit from wide vectors, compiled once per vector width and selected at run time.
#pragma once

#include <cstddef>
#include <cstdint>

// Only element-wise loops are marked: they give the same result at any width. Not with sanitizers,
// which start after the dynamic linker has called the resolvers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && \
    defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RAMIFY_ANY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RAMIFY_ANY_WIDTH
#endif

namespace ramify {

/// Rows of doubles are padded with zeros to a multiple of this.
inline constexpr std::size_t simd_block = 8;
/// Padding of the arrays of find_places, in cells.
inline constexpr std::size_t place_block = 16;

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

/// to += factor * row, cell by cell; n is a multiple of simd_block.
void add_scaled(double* to, const double* row, double factor, std::size_t n);

/// The largest of n values; -infinity for none. NaN is ignored.
double largest(const double* values, std::size_t n);

/// to[j] = (from[index[j]] - row_shift) - shift[j].
void gather_shifted(const double* from, const std::uint32_t* index, double row_shift,
                    const double* shift, std::size_t n, double* to);

/// places[i]: how many of n keys are smaller than keys[i]. Both arrays are padded by place_block
/// cells of any content.
void find_places(const std::int32_t* keys, std::size_t n, std::uint32_t* places);

}  // namespace ramify
