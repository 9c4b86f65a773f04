// Probabilities from linear models.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "data/matrix.hpp"
#include "linear/link.hpp"

namespace ramify {

/// Borrowed weights of linear models, by feature. The caller guarantees that features increase,
/// that outputs are below the number of intercepts, and that every model has an output.
struct LinearWeights {
    std::span<const std::int32_t> features;
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> outputs;
    std::span<const float> weights;
    std::span<const float> intercepts;
    std::span<const double> scales;   // how margins become probabilities; see LinearLink
    std::span<const double> offsets;  // not of classes
    // The outputs of model m are those from models[m] up to, but not including, models[m + 1].
    std::span<const std::int64_t> models;
    std::span<const std::uint8_t>
        exclusive;  // of each model: whether a row has exactly one output

    std::size_t n_outputs() const { return intercepts.size(); }
};

/// Writes a probability per row and output.
void predict_linear(const LinearWeights& all, const CsrView& X, unsigned n_threads,
                    StopSignal& signal, std::span<double> out);

}  // namespace ramify
