// The rows of one linear model, with only the features that occur in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/simd.hpp"
#include "data/matrix.hpp"

namespace ramify {

/// Some rows of a sparse matrix. Features are numbered by their place in `features`, so that the
/// weights of a small problem stay in the cache, whatever the size of the vocabulary.
struct LinearRows {
    std::vector<std::int32_t> features;  // columns of the whole matrix, increasing
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;  // places in `features`
    std::vector<float> values;
    std::vector<double> squares;  // squared length of each row

    LinearRows(const CsrView& X, std::span<const std::int64_t> chosen);

    std::size_t n_rows() const { return squares.size(); }

    /// work(place, value) for the cells of a row.
    template <typename Work>
    void for_cells(std::size_t row, const Work& work) const {
        const auto end = static_cast<std::size_t>(indptr[row + 1]);
        for (auto k = static_cast<std::size_t>(indptr[row]); k < end; ++k) {
            work(static_cast<std::size_t>(indices[k]), static_cast<double>(values[k]));
        }
    }
    /// Asks for the cells of a row that is needed soon.
    void prefetch_row(std::size_t row) const {
        const auto end = static_cast<std::size_t>(indptr[row + 1]);
        for (auto k = static_cast<std::size_t>(indptr[row]); k < end; k += 16) {
            prefetch(&indices[k]);
            prefetch(&values[k]);
        }
    }
    double dot(std::size_t row, std::span<const double> weights) const {
        const auto start = static_cast<std::size_t>(indptr[row]);
        const std::size_t n = static_cast<std::size_t>(indptr[row + 1]) - start;
        const auto product = [&](std::size_t k) {
            return static_cast<double>(values[start + k]) *
                   weights[static_cast<std::size_t>(indices[start + k])];
        };
        double sums[4] = {};  // four at once: an addition waits for the one before it
        std::size_t k = 0;
        for (; k + 4 <= n; k += 4) {
            for (std::size_t s = 0; s < 4; ++s) sums[s] += product(k + s);
        }
        for (; k < n; ++k) sums[k % 4] += product(k);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
};

}  // namespace ramify
