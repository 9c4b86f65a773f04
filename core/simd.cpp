#include "simd.hpp"

namespace ramify {

RAMIFY_ANY_WIDTH
void add_to(double* __restrict to, const double* __restrict row, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) to[k] += row[k];
}

}  // namespace ramify
