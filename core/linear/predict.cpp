#include "linear/predict.hpp"

#include <algorithm>
#include <cmath>

namespace ramify {

namespace {

constexpr std::size_t rows_at_a_time = 256;

void add_weights(const LinearWeights& all, const CsrView& X, std::size_t row,
                 std::span<double> margins) {
    auto place = all.features.begin();
    const auto end = static_cast<std::size_t>(X.indptr[row + 1]);
    for (auto cell = static_cast<std::size_t>(X.indptr[row]); cell < end; ++cell) {
        // Both are sorted: the search goes on where the last one ended.
        place = std::lower_bound(place, all.features.end(), X.indices[cell]);
        if (place == all.features.end()) return;
        if (*place != X.indices[cell]) continue;
        const auto j = static_cast<std::size_t>(place - all.features.begin());
        const auto last = static_cast<std::size_t>(all.indptr[j + 1]);
        for (auto k = static_cast<std::size_t>(all.indptr[j]); k < last; ++k) {
            margins[static_cast<std::size_t>(all.outputs[k])] +=
                X.data[cell] * static_cast<double>(all.weights[k]);
        }
    }
}

void share(double scale, std::span<double> margins) {
    const double largest = *std::max_element(margins.begin(), margins.end());
    double total = 0;
    for (auto& value : margins) {
        value = std::exp(scale * (value - largest));
        total += value;
    }
    for (auto& value : margins) value /= total;
}

void to_probabilities(const LinearWeights& all, std::span<double> margins) {
    for (std::size_t m = 0; m < all.exclusive.size(); ++m) {
        const auto first = static_cast<std::size_t>(all.models[m]);
        const auto last = static_cast<std::size_t>(all.models[m + 1]);
        if (all.exclusive[m] != 0) {
            share(all.scales[first], margins.subspan(first, last - first));
            continue;
        }
        for (std::size_t k = first; k < last; ++k) {
            margins[k] = 1 / (1 + std::exp(-all.scales[k] * margins[k] - all.offsets[k]));
        }
    }
}

}  // namespace

void predict_linear(const LinearWeights& all, const CsrView& X, unsigned n_threads,
                    StopSignal& signal, std::span<double> out) {
    const std::size_t n_outputs = all.n_outputs();
    const std::size_t n_rows = X.indptr.size() - 1;
    const std::size_t n_blocks = (n_rows + rows_at_a_time - 1) / rows_at_a_time;
    parallel_for(n_threads, n_blocks, signal, [&](unsigned, std::size_t block) {
        const std::size_t end = std::min(n_rows, (block + 1) * rows_at_a_time);
        for (std::size_t row = block * rows_at_a_time; row < end; ++row) {
            const auto margins = out.subspan(row * n_outputs, n_outputs);
            std::copy(all.intercepts.begin(), all.intercepts.end(), margins.begin());
            add_weights(all, X, row, margins);
            to_probabilities(all, margins);
        }
    });
}

}  // namespace ramify
