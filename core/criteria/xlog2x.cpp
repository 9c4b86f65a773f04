#include "criteria/xlog2x.hpp"

#include <bit>
#include <cstdint>

#include "common/log_series.hpp"
#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr std::uint64_t one_bits = 0x3ff0000000000000;   // 1.0
constexpr std::uint64_t half_root = 0x3fe6a09e00000000;  // about the square root of 1/2
constexpr std::uint64_t mantissa = 0x000fffffffffffff;
constexpr std::uint64_t two_52_bits = 0x4330000000000000;  // 2^52, whose last bit counts 1
constexpr double two_52 = 4503599627370496.0;
constexpr double log2_of_e = 1.4426950408889634074;

/// log2 of a positive number (something finite for 0), without branches or calls: x = 2^k m with m
/// around 1, and with s = (m - 1) / (m + 1) ln m = 2 artanh(s) = 2s + 2s^3/3 + 2s^5/5 + ...
inline double log2_of(double x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + (one_bits - half_root);
    const double k = std::bit_cast<double>((bits >> 52) | two_52_bits) - (two_52 + 1023);
    const double m = std::bit_cast<double>((bits & mantissa) + half_root);
    const double f = m - 1;
    const double s = f / (f + 2);
    const double z = s * s;
    // 2s = f - s f exactly, and f has no error: the small terms alone are rounded.
    return k + (f - s * (f - z * (2 * artanh_tail(z)))) * log2_of_e;
}

}  // namespace

XLog2X::XLog2X() : table_(4096) {
    for (std::size_t x = 2; x < table_.size(); ++x) {
        table_[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
    }
}

RAMIFY_ANY_WIDTH
void replace_by_xlog2x(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        // Negative numbers become 0, and log2_of(0) is finite; a condition would prevent the
        // compiler from vectorising the loop.
        const auto bits = std::bit_cast<std::int64_t>(values[i]);
        const double x = std::bit_cast<double>(bits & ~(bits >> 63));
        values[i] = x * log2_of(x);
    }
}

}  // namespace ramify
