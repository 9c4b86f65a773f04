// Loops that gain from wide vectors, compiled once for each width and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

// Only element-wise loops are marked: they give the same result at any width. Sanitizers start
// too late for the resolvers that the dynamic linker calls.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && \
    defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define RAMIFY_ANY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RAMIFY_ANY_WIDTH
#endif

namespace ramify {

/// Rows of doubles that are added up are filled with zeros to a multiple of this.
inline constexpr std::size_t simd_block = 8;
/// Keys that are compared all with all have this many cells more than keys.
inline constexpr std::size_t place_block = 16;

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

/// to += factor * row, cell by cell; n is a multiple of simd_block.
void add_scaled(double* to, const double* row, double factor, std::size_t n);

/// The largest of n values; -infinity for none. NaN counts as nothing.
double largest(const double* values, std::size_t n);

/// to[j] = (from[index[j]] - row_shift) - shift[j].
void gather_shifted(const double* from, const std::uint32_t* index, double row_shift,
                    const double* shift, std::size_t n, double* to);

/// places[i]: how many of n keys are smaller than keys[i]. Both arrays are longer than n by
/// place_block cells, whose content does not matter.
void find_places(const std::int32_t* keys, std::size_t n, std::uint32_t* places);

}  // namespace ramify
