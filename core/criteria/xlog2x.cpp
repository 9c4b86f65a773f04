#include "criteria/xlog2x.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "common/lanes.hpp"
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

template <typename T>
using BitsOf = std::conditional_t<std::is_same_v<T, Lanes>, LaneBits, std::uint64_t>;

/// log2 of a positive number (something finite for 0), without branches or calls: x = 2^k m with m
/// around 1, and with s = (m - 1) / (m + 1) ln m = 2 artanh(s) = 2s + 2s^3/3 + 2s^5/5 + ...
/// T is a number, or a vector of numbers.
template <typename T>
RAMIFY_INSIDE T log2_of(const T& x) {
    const auto bits = std::bit_cast<BitsOf<T>>(x) + (one_bits - half_root);
    const T k = std::bit_cast<T>((bits >> 52) | two_52_bits) - (two_52 + 1023);
    const T m = std::bit_cast<T>((bits & mantissa) + half_root);
    const T f = m - 1.0;
    const T s = f / (f + 2.0);
    const T z = s * s;
    // 2s = f - s f exactly, and f has no error: the small terms alone are rounded.
    return k + (f - s * (f - z * (2.0 * artanh_tail(z)))) * log2_of_e;
}

/// x log2 x, 0 for x <= 0. Negative numbers become 0, and log2_of(0) is finite; a condition would
/// prevent the compiler from vectorising loops.
template <typename T>
RAMIFY_INSIDE T xlog2x_of(const T& value) {
    const auto bits = std::bit_cast<BitsOf<T>>(value);
    const T x = std::bit_cast<T>(bits & ((bits >> 63) - 1));
    return x * log2_of(x);
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
        values[i] = xlog2x_of(values[i]);
    }
}

void LabelEntropies::reset(std::span<const double> label_weight) {
    label_weight_.assign(label_weight.begin(), label_weight.end());
    label_weight_.resize((label_weight.size() + abreast - 1) / abreast * abreast, 0.0);
}

void LabelEntropies::begin(std::span<const double> known) {
    left_.assign(label_weight_.size(), 0.0);
    known_.assign(label_weight_.size(), 0.0);
    std::ranges::copy(known, known_.begin());
    positive_ = known_;
    replace_by_xlog2x(positive_.data(), positive_.size());
}

void LabelEntropies::move(std::size_t label, double weight) {
    left_[label] += weight;
    positive_[label] = xlog2x_of(left_[label]) + xlog2x_of(known_[label] - left_[label]);
}

RAMIFY_ANY_WIDTH
double LabelEntropies::impurity(double left_weight, double known_weight) const {
    const double whole = xlog2x_of(left_weight) + xlog2x_of(known_weight - left_weight);
    Lanes sum = all(0.0);
    for (std::size_t c = 0; c < label_weight_.size() / abreast; ++c) {
        const Lanes left_negative = left_weight - load(left_.data(), c);
        const Lanes negative = known_weight - load(known_.data(), c);
        sum += load(label_weight_.data(), c) *
               (whole - load(positive_.data(), c) - xlog2x_of(left_negative) -
                xlog2x_of(negative - left_negative));
    }
    double parts[abreast];
    store(parts, 0, sum);
    double total = 0;
    for (const double part : parts) total += part;
    return total;
}

}  // namespace ramify
