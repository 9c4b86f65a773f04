#include "gradient_boosting/margins.hpp"

#include <bit>

#include "common/simd.hpp"
#include "gradient_boosting/records.hpp"

namespace ramify {

namespace {

// Cells below which threads are not worth starting to write them.
constexpr std::size_t min_written_cells = 4'000'000;

}  // namespace

Margins::Margins(std::size_t n_rows, std::size_t stride, std::span<const double> start,
                 std::span<const std::int32_t> order, const OutputPlaces& places, Loss loss,
                 unsigned n_threads)
    : n_rows_(n_rows),
      n_outputs_(order.size()),
      stride_(stride > 0 ? stride : order.size()),
      places_(places),
      loss_(loss),
      n_threads_(n_threads),
      margins_(std::make_unique_for_overwrite<float[]>(n_rows * stride_)),
      normaliser_(loss == Loss::softmax && stride > 0 ? n_rows : 0) {
    if (stride == 0) {
        probabilities_.resize(n_rows * n_outputs_);
        has_.resize(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) {
            for (const auto k : places.of(row)) {
                has_[row] |= static_cast<std::uint16_t>(1U << static_cast<unsigned>(k));
            }
        }
    }
    std::vector<float> first(stride_, no_margin);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        first[k] = static_cast<float>(start[static_cast<std::size_t>(order[k])]);
    }
    StopSignal signal({});
    for_rows(n_rows * stride_ < min_written_cells ? 1U : n_threads, n_rows, signal,
             [&](unsigned, auto begin, auto end) {
                 for (auto row = begin; row < end; ++row) std::ranges::copy(first, of(row));
             });
}

void Margins::write_records(std::span<const std::uint32_t> rows, const float* weight,
                            std::span<const float> factor, std::span<float> records,
                            StopSignal& signal) {
    const auto stride = record_stride(n_outputs_);
    for_rows(threads_for(rows.size()), rows.size(), signal, [&](unsigned, auto first, auto last) {
        signal.check();
        for (auto begin = first; begin < last; begin += float_block) {
            const auto n = std::min(float_block, last - begin);
            write_block(rows.subspan(begin, n), weight, factor, &records[begin * stride]);
        }
    });
}

/// Up to float_block rows: margins are transposed, so that vectors have one output of all rows.
void Margins::write_block(std::span<const std::uint32_t> rows, const float* weight,
                          std::span<const float> factor, float* records) {
    const auto n = n_outputs_;
    const auto stride = record_stride(n);
    float margins[max_few_outputs * float_block] = {};
    float found[max_few_outputs * float_block];
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < n; ++k) margins[k * float_block + i] = of(rows[i])[k];
    }
    fill_few_probabilities(loss_, margins, n, found);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* kept = &probabilities_[rows[i] * n];
        float* record = records + i * stride;
        const unsigned has = has_[rows[i]];
        const float of_row = weight[rows[i]];
        for (std::size_t k = 0; k < n; ++k) {
            const float p = found[k * float_block + i];
            kept[k] = p;
            record[k] = of_row * ((p - static_cast<float>((has >> k) & 1U)) * factor[k]);
        }
        record[n] = 1.0F;
        std::fill(record + n + 1, record + stride, 0.0F);
    }
}

namespace {

/// Adds the gradient and the curvature of rows with few outputs. `width`: of what is kept of a
/// row.
RAMIFY_ANY_WIDTH
void add_few(const float* __restrict kept, std::size_t width, const std::uint32_t* __restrict rows,
             std::size_t n_rows, const float* __restrict weight, const std::uint16_t* has,
             float* __restrict gradient, float* __restrict curvature) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const float* __restrict p = kept + rows[i] * width;
        const float of_row = weight[rows[i]];
        for (std::size_t k = 0; k < width; ++k) {
            gradient[k] += of_row * p[k];
            curvature[k] += of_row * (p[k] * (1.0F - p[k]));
        }
        for (unsigned left = has[rows[i]]; left != 0; left &= left - 1) {
            gradient[std::countr_zero(left)] -= of_row;
        }
    }
}

}  // namespace

void Margins::sum_few_gradients(std::span<const std::uint32_t> rows, const float* weight,
                                double* gradients, double* curvatures) const {
    constexpr std::size_t rows_per_part = 64;
    for (std::size_t begin = 0; begin < rows.size(); begin += rows_per_part) {
        float gradient[max_few_outputs] = {};
        float curvature[max_few_outputs] = {};
        const auto n = std::min(rows_per_part, rows.size() - begin);
        add_few(probabilities_.data(), n_outputs_, rows.data() + begin, n, weight, has_.data(),
                gradient, curvature);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            gradients[k] += static_cast<double>(gradient[k]);
            curvatures[k] += static_cast<double>(curvature[k]);
        }
    }
}

std::vector<double> Margins::losses(std::span<const std::uint32_t> rows,
                                    StopSignal& signal) const {
    std::vector<double> losses(rows.size());
    for_rows(n_threads_, rows.size(), signal, [&](unsigned, auto first, auto last) {
        signal.check();
        float padding[max_few_outputs];
        std::fill_n(padding, max_few_outputs, no_margin);
        for (auto i = first; i < last; ++i) {
            const float* margins = of(rows[i]);
            if (!has_.empty()) {
                std::copy_n(margins, n_outputs_, padding);
                margins = padding;
            }
            losses[i] = row_loss(loss_, margins, n_outputs_, places_.of(rows[i]));
        }
    });
    return losses;
}

}  // namespace ramify
