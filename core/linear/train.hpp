// Linear models that tell several classes or labels apart, one against all others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"
#include "data/matrix.hpp"
#include "linear/link.hpp"
#include "linear/solver.hpp"

namespace ramify {

/// What to learn.
struct LinearProblem {
    std::span<const std::int64_t> chosen;  // rows of X
    SparseRowsView positives;              // for each output, places of its rows in `chosen`
    std::span<const double> weights;       // of the chosen rows; positive
    bool exclusive;                        // whether every row has exactly one of the outputs
};

struct LinearOptions {
    double cost;  // of an error in a row of weight 1
    LinearStopping stopping;
    double least_weight;  // smaller weights are dropped
    std::uint64_t seed;
    unsigned n_threads;
};

/// Weights by feature; those that are not stored are 0.
struct LinearModel {
    std::vector<std::int32_t> features;  // columns of X, increasing
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> outputs;
    std::vector<float> weights;
    std::vector<float> intercepts;
    std::vector<LinearLink> links;  // of each output; classes share one scale
};

LinearModel train_linear(const CsrView& X, const LinearProblem& problem,
                         const LinearOptions& options, StopSignal& signal);

}  // namespace ramify
