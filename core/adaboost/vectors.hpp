// The labels of a block as a few vectors, for loops that are compiled for several vector widths.
#pragma once

#include <cstddef>
#include <cstring>

// Compilers do not keep sixteen running sums in registers on their own, so the loops use vector
// types and are compiled for three vector widths. All give bit-identical results.
#if defined(__GNUC__)
#define RAMIFY_INLINE __attribute__((always_inline)) inline
#else
#define RAMIFY_INLINE inline
#endif
#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RAMIFY_X86_WIDTHS
#endif

namespace ramify {

template <typename T, std::size_t n_bytes>
struct VectorOf {
#if defined(__GNUC__)
    typedef T type __attribute__((vector_size(n_bytes)));
#else
    typedef T type;
#endif
};
template <typename T>
struct VectorOf<T, sizeof(T)> {
    typedef T type;
};

/// The labels processed in one pass over a column, as a few vectors.
template <typename T, std::size_t n_bytes, std::size_t n_parts>
struct LabelVectors {
    using Vector = typename VectorOf<T, n_bytes>::type;
    static constexpr std::size_t width = n_bytes / sizeof(T);
    static constexpr std::size_t size = width * n_parts;
    Vector part[n_parts];

    RAMIFY_INLINE void fill(T value) {
        for (auto& p : part) p = Vector{} + value;
    }
    RAMIFY_INLINE void load(const T* from) { std::memcpy(part, from, sizeof part); }
    RAMIFY_INLINE void store(T* to) const { std::memcpy(to, part, sizeof part); }
    RAMIFY_INLINE void add(const T* from) {
        for (std::size_t q = 0; q < n_parts; ++q) {
            Vector v;
            std::memcpy(&v, from + q * width, sizeof v);
            part[q] += v;
        }
    }
};

}  // namespace ramify
