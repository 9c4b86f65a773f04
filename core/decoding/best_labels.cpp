#include "decoding/best_labels.hpp"

#include <algorithm>
#include <vector>

#include "common/top_labels.hpp"

namespace ramify {

namespace {

/// Runs write_row(worker, row) for all rows, with a worker per thread.
template <typename Worker, typename WriteRow>
void for_each_row(std::size_t n_rows, unsigned n_threads, const Worker& worker, StopSignal& signal,
                  WriteRow write_row) {
    constexpr std::size_t block = 32;
    std::vector<Worker> workers(n_threads, worker);
    parallel_for(n_threads, (n_rows + block - 1) / block, signal,
                 [&](unsigned thread, std::size_t b) {
                     signal.check();
                     const std::size_t end = std::min(n_rows, (b + 1) * block);
                     for (std::size_t r = b * block; r < end; ++r) write_row(workers[thread], r);
                 });
}

}  // namespace

void best_labels(const MatrixView<double>& scores, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score) {
    const std::size_t n_labels = scores.n_columns;
    struct Worker {
        TopLabels top;
        std::vector<double> scores;
    };
    const bool in_place = scores.column_stride == 1;
    const Worker worker{TopLabels(candidates, n_labels, k),
                        std::vector<double>(in_place ? 0 : n_labels)};
    for_each_row(scores.n_rows, n_threads, worker, signal, [&](Worker& w, std::size_t r) {
        for (std::size_t l = 0; l < w.scores.size(); ++l) w.scores[l] = scores.cell(r, l);
        const auto* row = scores.data + static_cast<std::ptrdiff_t>(r) * scores.row_stride;
        w.top.choose({in_place ? row : w.scores.data(), n_labels}, candidates,
                     label.data() + r * k, score.data() + r * k);
    });
}

void best_labels(const CsrView& scores, std::span<const std::int32_t> candidates, std::size_t k,
                 unsigned n_threads, StopSignal& signal, std::span<std::int32_t> label,
                 std::span<double> score) {
    struct Worker {
        TopLabels top;
        std::vector<double> scores;  // of all labels; 0 between two rows
    };
    const Worker worker{TopLabels(candidates, scores.n_columns, k),
                        std::vector<double>(scores.n_columns, 0.0)};
    const std::size_t n_rows = scores.indptr.size() - 1;
    for_each_row(n_rows, n_threads, worker, signal, [&](Worker& w, std::size_t r) {
        const auto begin = static_cast<std::size_t>(scores.indptr[r]);
        const auto end = static_cast<std::size_t>(scores.indptr[r + 1]);
        for (auto i = begin; i < end; ++i) {
            w.scores[static_cast<std::size_t>(scores.indices[i])] = scores.data[i];
        }
        w.top.choose(w.scores, scores.indices.subspan(begin, end - begin), label.data() + r * k,
                     score.data() + r * k);
        for (auto i = begin; i < end; ++i) {
            w.scores[static_cast<std::size_t>(scores.indices[i])] = 0.0;
        }
    });
}

}  // namespace ramify
