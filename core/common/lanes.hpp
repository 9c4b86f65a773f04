// Arithmetic on eight numbers at a time: the same operation for one label of eight rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ramify {

// Compilers without vector types process one row at a time with the same code.
#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(64)));
typedef std::uint64_t LaneBits __attribute__((vector_size(64)));
#define RAMIFY_INSIDE inline __attribute__((always_inline))
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // functions that take or return lanes are always inlined
#endif
#else
typedef double Lanes;
typedef std::uint64_t LaneBits;
#define RAMIFY_INSIDE inline
#endif

/// Rows processed together. A table of them is stored by columns.
inline constexpr std::size_t abreast = sizeof(Lanes) / sizeof(double);

/// Loads one column, which need not be aligned.
RAMIFY_INSIDE Lanes load(const double* from, std::size_t column) {
    Lanes lanes;
    std::memcpy(&lanes, from + column * abreast, sizeof(lanes));
    return lanes;
}

RAMIFY_INSIDE void store(double* to, std::size_t column, const Lanes& lanes) {
    std::memcpy(to + column * abreast, &lanes, sizeof(lanes));
}

RAMIFY_INSIDE void store_rounded(float* to, const Lanes& lanes) {
#if defined(__GNUC__) || defined(__clang__)
    typedef float Rounded __attribute__((vector_size(32)));
    const Rounded rounded = __builtin_convertvector(lanes, Rounded);
#else
    const float rounded = static_cast<float>(lanes);
#endif
    std::memcpy(to, &rounded, sizeof(rounded));
}

RAMIFY_INSIDE Lanes all(double value) {
    return Lanes{} + value;
}

RAMIFY_INSIDE Lanes larger(const Lanes& a, const Lanes& b) {
    return a > b ? a : b;
}

RAMIFY_INSIDE Lanes smaller(const Lanes& a, const Lanes& b) {
    return a < b ? a : b;
}

}  // namespace ramify
