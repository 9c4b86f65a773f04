#include "gradient_boosting/margins.hpp"

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
      stride_(stride),
      places_(places),
      loss_(loss),
      n_threads_(n_threads),
      margins_(std::make_unique_for_overwrite<float[]>(n_rows * stride)),
      normaliser_(loss == Loss::softmax ? n_rows : 0) {
    std::vector<float> first(stride, no_margin);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        first[k] = static_cast<float>(start[static_cast<std::size_t>(order[k])]);
    }
    StopSignal signal({});
    for_rows(n_rows * stride < min_written_cells ? 1U : n_threads, n_rows, signal,
             [&](unsigned, auto begin, auto end) {
                 for (auto row = begin; row < end; ++row) std::ranges::copy(first, of(row));
             });
}

std::vector<double> Margins::losses(std::span<const std::uint32_t> rows,
                                    StopSignal& signal) const {
    std::vector<double> losses(rows.size());
    for_rows(n_threads_, rows.size(), signal, [&](unsigned, auto first, auto last) {
        signal.check();
        for (auto i = first; i < last; ++i) {
            losses[i] = row_loss(loss_, of(rows[i]), n_outputs_, places_.of(rows[i]));
        }
    });
    return losses;
}

}  // namespace ramify
