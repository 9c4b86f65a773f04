// The series for computing many logarithms at once, without branches or calls.
#pragma once

#include "common/lanes.hpp"

namespace ramify {

/// (artanh(s) / s - 1) / z with z = s^2: 1/3 + z/5 + z^2/7 + ... With x = 2^k m and m in [√½, √2),
/// log m = 2 artanh(s) for s = (m - 1) / (m + 1), which is below 0.172: the truncation error is
/// below the last bit. T is a number, or a vector of numbers.
template <typename T>
RAMIFY_INSIDE T artanh_tail(const T& z) {
    T tail = z * (1.0 / 21) + 1.0 / 19;
    tail = tail * z + 1.0 / 17;
    tail = tail * z + 1.0 / 15;
    tail = tail * z + 1.0 / 13;
    tail = tail * z + 1.0 / 11;
    tail = tail * z + 1.0 / 9;
    tail = tail * z + 1.0 / 7;
    tail = tail * z + 1.0 / 5;
    return tail * z + 1.0 / 3;
}

}  // namespace ramify
