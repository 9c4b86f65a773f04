// Options of gradient boosting, with their defaults.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

enum class Loss : std::uint8_t {
    logistic,  // each output is a label, learnt on its own
    softmax,   // every row has one of the outputs
};

struct GradientBoostingOptions {
    Loss loss = Loss::logistic;
    double learning_rate = 0.1;
    std::size_t max_depth = 6;
    std::size_t max_leaf_nodes = 0;  // 0: no limit
    std::size_t min_samples_leaf = 5;
    double l2_regularization = 1.0;
    std::size_t n_sampled_rows = 0;      // rows drawn for each tree; 0: all
    std::size_t n_sampled_features = 0;  // features drawn for each tree; 0: all
    std::size_t sketch_size = 64;        // numbers per row that the search for splits looks at
    std::uint64_t seed = 0;
    std::uint64_t first_round = 0;  // rounds learnt before, which used up their random numbers
    unsigned n_threads = 1;
};

}  // namespace ramify
