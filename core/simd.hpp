// Loops that gain from wide vectors, compiled once for each width and chosen at run time.
#pragma once

#include <cstddef>

// Only element-wise loops are marked: they give the same result at any width. Sanitizers start
// too late for the resolvers that the dynamic linker calls.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && \
    defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define RAMIFY_ANY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RAMIFY_ANY_WIDTH
#endif

namespace ramify {

/// to += row, cell by cell.
void add_to(double* to, const double* row, std::size_t n);

}  // namespace ramify
