// Margins of new rows: the sum of the values of their leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/tree.hpp"

namespace ramify {

/// The trees of a model, checked once.
struct BoostedTrees {
    std::size_t n_outputs = 0;
    std::size_t n_features = 0;
    std::vector<BoostedTree> trees;
};

/// Adds the values of trees first to last - 1 to `margins`, n_rows x n_outputs by rows. Every row
/// adds the trees in their order: the result does not depend on the threads or the other rows.
template <typename Rows>
void add_boosted_margins(const BoostedTrees& model, std::size_t first, std::size_t last,
                         const Rows& rows, unsigned n_threads, StopSignal& signal,
                         std::span<float> margins);

/// The node of the leaf that each row reaches in one tree.
template <typename Rows>
void find_boosted_leaves(const BoostedTree& tree, Rows rows, std::span<std::int32_t> leaf);

/// Turns margins into probabilities, row by row.
void margins_to_probabilities(Loss loss, std::span<const float> margins, std::size_t n_outputs,
                              unsigned n_threads, StopSignal& signal, std::span<double> out);

}  // namespace ramify
