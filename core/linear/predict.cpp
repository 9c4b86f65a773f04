#include "linear/predict.hpp"

#include <algorithm>
#include <cmath>

namespace ramify {

namespace {

void add_weights(const LinearWeights& model, const CsrView& X, std::size_t row,
                 std::span<double> margins) {
    auto place = model.features.begin();
    const auto end = static_cast<std::size_t>(X.indptr[row + 1]);
    for (auto cell = static_cast<std::size_t>(X.indptr[row]); cell < end; ++cell) {
        // Both are sorted: the search goes on where the last one ended.
        place = std::lower_bound(place, model.features.end(), X.indices[cell]);
        if (place == model.features.end()) return;
        if (*place != X.indices[cell]) continue;
        const auto j = static_cast<std::size_t>(place - model.features.begin());
        const auto last = static_cast<std::size_t>(model.indptr[j + 1]);
        for (auto k = static_cast<std::size_t>(model.indptr[j]); k < last; ++k) {
            margins[static_cast<std::size_t>(model.outputs[k])] +=
                X.data[cell] * static_cast<double>(model.weights[k]);
        }
    }
}

void to_probabilities(const LinearWeights& model, std::span<double> margins) {
    if (!model.exclusive) {
        for (std::size_t k = 0; k < margins.size(); ++k) {
            margins[k] = 1 / (1 + std::exp(-model.scales[k] * margins[k] - model.offsets[k]));
        }
        return;
    }
    const double largest = *std::max_element(margins.begin(), margins.end());
    double total = 0;
    for (auto& value : margins) {
        value = std::exp(model.scales.front() * (value - largest));
        total += value;
    }
    for (auto& value : margins) value /= total;
}

}  // namespace

void predict_linear(const LinearWeights& model, const CsrView& X, StopSignal& signal,
                    std::span<double> out) {
    const std::size_t n_outputs = model.n_outputs();
    for (std::size_t row = 0; row + 1 < X.indptr.size(); ++row) {
        if (row % 1024 == 0) signal.check();
        const auto margins = out.subspan(row * n_outputs, n_outputs);
        std::copy(model.intercepts.begin(), model.intercepts.end(), margins.begin());
        add_weights(model, X, row, margins);
        to_probabilities(model, margins);
    }
}

}  // namespace ramify
