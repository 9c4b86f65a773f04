// Probabilities from linear models.
#pragma once

#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "data/matrix.hpp"
#include "linear/link.hpp"

namespace ramify {

/// Borrowed weights of a linear model, by feature. The caller guarantees that features increase,
/// and that outputs are below the number of intercepts.
struct LinearWeights {
    std::span<const std::int32_t> features;
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> outputs;
    std::span<const float> weights;
    std::span<const float> intercepts;
    std::span<const double> scales;   // how margins become probabilities; see LinearLink
    std::span<const double> offsets;  // not of classes
    bool exclusive;                   // whether a row has exactly one of the outputs

    std::size_t n_outputs() const { return intercepts.size(); }
};

/// Writes a probability per row and output.
void predict_linear(const LinearWeights& model, const CsrView& X, StopSignal& signal,
                    std::span<double> out);

}  // namespace ramify
