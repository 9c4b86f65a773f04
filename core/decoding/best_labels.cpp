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

void best_labels(const DenseScoreRows& rows, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score) {
    for_each_row(rows.n_rows, n_threads, TopLabels(candidates, rows.n_labels, k), signal,
                 [&](TopLabels& top, std::size_t r) {
                     top.choose(rows.scores.subspan(r * rows.n_labels, rows.n_labels), candidates,
                                label.data() + r * k, score.data() + r * k);
                 });
}

void best_labels(const SparseScoreRows& rows, std::span<const std::int32_t> candidates,
                 std::size_t k, unsigned n_threads, StopSignal& signal,
                 std::span<std::int32_t> label, std::span<double> score) {
    struct Worker {
        TopLabels top;
        std::vector<double> scores;  // of all labels; 0 between two rows
    };
    const Worker worker{TopLabels(candidates, rows.n_labels, k),
                        std::vector<double>(rows.n_labels, 0.0)};
    for_each_row(rows.indptr.size() - 1, n_threads, worker, signal, [&](Worker& w, std::size_t r) {
        const auto begin = static_cast<std::size_t>(rows.indptr[r]);
        const auto end = static_cast<std::size_t>(rows.indptr[r + 1]);
        for (auto i = begin; i < end; ++i) {
            w.scores[static_cast<std::size_t>(rows.label[i])] = rows.score[i];
        }
        w.top.choose(w.scores, rows.label.subspan(begin, end - begin), label.data() + r * k,
                     score.data() + r * k);
        for (auto i = begin; i < end; ++i) {
            w.scores[static_cast<std::size_t>(rows.label[i])] = 0.0;
        }
    });
}

}  // namespace ramify
