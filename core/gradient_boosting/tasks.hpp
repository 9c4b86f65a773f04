// How the work of a round is divided among threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/parallel.hpp"

namespace ramify {

// Rows, cells of a row or, in small nodes, features that one task processes.
inline constexpr std::size_t rows_per_task = 64;
inline constexpr std::size_t outputs_per_task = 512;
inline constexpr std::size_t features_per_task = 8;
// Cells below which threads are not worth starting.
inline constexpr std::size_t min_shared_cells = 50'000;

/// Calls visit(thread, first, last) for the rows of each task.
template <typename Visit>
void for_rows(unsigned n_threads, std::size_t n_rows, StopSignal& signal, Visit visit) {
    parallel_for(n_threads, (n_rows + rows_per_task - 1) / rows_per_task, signal,
                 [&](unsigned thread, std::size_t task) {
                     visit(thread, task * rows_per_task,
                           std::min((task + 1) * rows_per_task, n_rows));
                 });
}

}  // namespace ramify
