// The margins of rows, and the loops over them that all who learn from rows share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/gradients.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/outputs.hpp"
#include "gradient_boosting/tasks.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

class Margins {
  public:
    /// `stride`: floats per row; those after the last output are padding. 0: there are few
    /// outputs, without padding, whose gradients come as records. `start`: the margin of each
    /// output before the first round. `places` must stay valid.
    Margins(std::size_t n_rows, std::size_t stride, std::span<const double> start,
            std::span<const std::int32_t> order, const OutputPlaces& places, Loss loss,
            unsigned n_threads);

    float* of(std::size_t row) { return margins_.get() + row * stride_; }
    const float* of(std::size_t row) const { return margins_.get() + row * stride_; }

    /// Threads that are worth starting to visit some rows.
    unsigned threads_for(std::size_t n_rows) const {
        return n_rows * stride_ < min_shared_cells ? 1U : n_threads_;
    }

    /// Calls visit(thread, row, gradient) with the unweighted gradient of each of some rows; the
    /// normalisers that are found are those of sum_gradients.
    template <typename Visit>
    void visit_gradients(std::span<const std::uint32_t> rows, StopSignal& signal, Visit visit);

    /// Writes records of some rows with few outputs: their gradients, times weight_of(row) and the
    /// factors of the outputs. sum_few_gradients needs the probabilities that are found.
    void write_records(std::span<const std::uint32_t> rows, const float* weight,
                       std::span<const float> factor, std::span<float> records,
                       StopSignal& signal);
    /// As sum_gradients, for few outputs.
    void sum_few_gradients(std::span<const std::uint32_t> rows, const float* weight,
                           double* gradients, double* curvatures) const;

    /// Adds up gradients and curvatures of some rows, times weight_of(row), of `n` places from
    /// `first` on, the first of which has an output. Sums of a few rows are Parts, which are
    /// faster than Sums.
    template <typename Part, typename Sum, typename WeightOf>
    void sum_gradients(std::span<const std::uint32_t> rows, std::size_t first, std::size_t n,
                       WeightOf weight_of, Sum* gradients, Sum* curvatures) const;

    /// Adds to each row the values of its leaf, leaf_of(row), of which each has `stride`, or with
    /// few outputs as many as fill whole blocks. Not to be interrupted: margins would have the
    /// tree in part.
    template <typename LeafOf>
    void add_leaves(std::span<const float> values, StopSignal& signal, LeafOf leaf_of);

    /// The loss of each of some rows.
    std::vector<double> losses(std::span<const std::uint32_t> rows, StopSignal& signal) const;

  private:
    void write_block(std::span<const std::uint32_t> rows, const float* weight,
                     std::span<const float> factor, float* records);

    std::size_t n_rows_;
    std::size_t n_outputs_;
    std::size_t stride_;
    const OutputPlaces& places_;
    Loss loss_;
    unsigned n_threads_;
    std::unique_ptr<float[]> margins_;
    std::vector<Normaliser> normaliser_;  // per row, for softmax
    // With few outputs, else empty: which of them a row has, one bit each, and their
    // probabilities.
    std::vector<std::uint16_t> has_;
    std::vector<float> probabilities_;
};

template <typename Visit>
void Margins::visit_gradients(std::span<const std::uint32_t> rows, StopSignal& signal,
                              Visit visit) {
    const auto n_threads = threads_for(rows.size());
    std::vector<std::vector<float>> gradients(n_threads, std::vector<float>(stride_));
    for_rows(n_threads, rows.size(), signal, [&](unsigned thread, auto first, auto last) {
        signal.check();
        float* gradient = gradients[thread].data();
        for (const auto row : rows.subspan(first, last - first)) {
            Normaliser normaliser;
            if (loss_ == Loss::softmax) {
                normaliser = normaliser_[row] = normaliser_of(of(row), stride_);
            }
            fill_probabilities(loss_, of(row), normaliser, stride_, gradient);
            for (const auto k : places_.of(row)) gradient[k] -= 1.0F;
            visit(thread, row, gradient);
        }
    });
}

template <typename Part, typename Sum, typename WeightOf>
void Margins::sum_gradients(std::span<const std::uint32_t> rows, std::size_t first, std::size_t n,
                            WeightOf weight_of, Sum* gradients, Sum* curvatures) const {
    constexpr std::size_t rows_per_part = 64;
    const auto n_kept = std::min(n, n_outputs_ - first);  // not the padding
    Part gradient[outputs_per_task];
    Part curvature[outputs_per_task];
    for (std::size_t begin = 0; begin < rows.size(); begin += rows_per_part) {
        std::fill_n(gradient, n, Part{0});
        std::fill_n(curvature, n, Part{0});
        const auto last = std::min(begin + rows_per_part, rows.size());
        for (const auto row : rows.subspan(begin, last - begin)) {
            const float weight = weight_of(row);
            const auto normaliser = loss_ == Loss::softmax ? normaliser_[row] : Normaliser{};
            add_gradients(loss_, of(row) + first, normaliser, weight, n, gradient, curvature);
            for (const auto k : places_.of(row)) {
                const auto place = static_cast<std::size_t>(k) - first;  // wraps around
                if (place < n) gradient[place] -= weight_in<Part>(weight);
            }
        }
        for (std::size_t k = 0; k < n_kept; ++k) {
            gradients[k] += static_cast<Sum>(gradient[k]);
            curvatures[k] += static_cast<Sum>(curvature[k]);
        }
    }
}

template <typename LeafOf>
void Margins::add_leaves(std::span<const float> values, StopSignal& signal, LeafOf leaf_of) {
    for_rows(threads_for(n_rows_), n_rows_, signal, [&](unsigned, auto first, auto last) {
        for (auto row = first; row < last; ++row) {
            if (has_.empty()) {
                add_floats(of(row), values.data() + leaf_of(row) * stride_, stride_);
                continue;
            }
            const float* from = values.data() + leaf_of(row) * padded(n_outputs_);
            for (std::size_t k = 0; k < n_outputs_; ++k) of(row)[k] += from[k];
        }
    });
}

}  // namespace ramify
