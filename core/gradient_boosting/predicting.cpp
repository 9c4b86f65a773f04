#include "gradient_boosting/predicting.hpp"

#include <algorithm>
#include <cmath>

#include "gradient_boosting/gradients.hpp"
#include "gradient_boosting/vectors.hpp"
#include "tree/predict.hpp"

namespace ramify {

namespace {

constexpr std::size_t predicted_rows_per_task = 32;

/// The node that the selected row reaches.
template <typename Rows>
std::size_t leaf_node(const BoostedTree& tree, const Rows& row) {
    std::size_t node = 0;
    while (tree.feature[node] >= 0) {
        const double value = row[tree.feature[node]];
        const auto begin = tree.category_indptr[node];
        const auto n_codes = tree.category_indptr[node + 1] - begin;
        bool yes = tree.missing_yes[node] != 0;
        if (n_codes > 0) {
            if (value >= 0 && value < static_cast<double>(n_codes)) {
                const auto code = static_cast<std::int64_t>(value);
                yes = tree.category_yes[static_cast<std::size_t>(begin + code)] != 0;
            }
        } else if (!std::isnan(value)) {
            yes = value > tree.threshold[node];
        }
        node = static_cast<std::size_t>(yes ? tree.yes[node] : tree.no[node]);
    }
    return node;
}

void add_any_length(float* to, const float* from, std::size_t n) {
    const auto whole = n / float_block * float_block;
    add_floats(to, from, whole);
    for (auto j = whole; j < n; ++j) to[j] += from[j];
}

}  // namespace

template <typename Rows>
void add_boosted_margins(const BoostedTrees& model, std::size_t first, std::size_t last,
                         const Rows& rows, unsigned n_threads, StopSignal& signal,
                         std::span<float> margins) {
    const auto n_rows = rows.n_rows();
    const auto n_tasks = (n_rows + predicted_rows_per_task - 1) / predicted_rows_per_task;
    std::vector<Rows> readers(std::max(1U, n_threads), rows);
    parallel_for(n_threads, n_tasks, signal, [&](unsigned thread, std::size_t task) {
        signal.check();
        auto& reader = readers[thread];
        const auto end = std::min((task + 1) * predicted_rows_per_task, n_rows);
        for (auto row = task * predicted_rows_per_task; row < end; ++row) {
            reader.select(row);
            float* to = margins.data() + row * model.n_outputs;
            for (auto t = first; t < last; ++t) {
                const auto& tree = model.trees[t];
                const auto leaf = static_cast<std::size_t>(tree.leaf[leaf_node(tree, reader)]);
                add_any_length(to, tree.value.data() + leaf * model.n_outputs, model.n_outputs);
            }
        }
    });
}

template <typename Rows>
void find_boosted_leaves(const BoostedTree& tree, Rows rows, std::span<std::int32_t> leaf) {
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
        rows.select(row);
        leaf[row] = static_cast<std::int32_t>(leaf_node(tree, rows));
    }
}

template void add_boosted_margins(const BoostedTrees&, std::size_t, std::size_t,
                                  const DenseRows<float>&, unsigned, StopSignal&,
                                  std::span<float>);
template void add_boosted_margins(const BoostedTrees&, std::size_t, std::size_t,
                                  const DenseRows<double>&, unsigned, StopSignal&,
                                  std::span<float>);
template void add_boosted_margins(const BoostedTrees&, std::size_t, std::size_t,
                                  const SparseCells&, unsigned, StopSignal&, std::span<float>);
template void find_boosted_leaves(const BoostedTree&, DenseRows<float>, std::span<std::int32_t>);
template void find_boosted_leaves(const BoostedTree&, DenseRows<double>, std::span<std::int32_t>);
template void find_boosted_leaves(const BoostedTree&, SparseCells, std::span<std::int32_t>);

void margins_to_probabilities(Loss loss, std::span<const float> margins, std::size_t n_outputs,
                              unsigned n_threads, StopSignal& signal, std::span<double> out) {
    const auto n_rows = margins.size() / std::max<std::size_t>(1, n_outputs);
    const auto width = padded(n_outputs);
    const auto n_tasks = (n_rows + predicted_rows_per_task - 1) / predicted_rows_per_task;
    std::vector<std::vector<float>> buffers(std::max(1U, n_threads),
                                            std::vector<float>(2 * width));
    parallel_for(n_threads, n_tasks, signal, [&](unsigned thread, std::size_t task) {
        signal.check();
        float* row_margins = buffers[thread].data();
        float* probabilities = row_margins + width;
        std::fill_n(row_margins, width, no_margin);
        const auto end = std::min((task + 1) * predicted_rows_per_task, n_rows);
        for (auto row = task * predicted_rows_per_task; row < end; ++row) {
            std::copy_n(margins.data() + row * n_outputs, n_outputs, row_margins);
            Normaliser normaliser;
            if (loss == Loss::softmax) normaliser = normaliser_of(row_margins, width);
            fill_probabilities(loss, row_margins, normaliser, width, probabilities);
            for (std::size_t j = 0; j < n_outputs; ++j) {
                out[row * n_outputs + j] = static_cast<double>(probabilities[j]);
            }
        }
    });
}

}  // namespace ramify
