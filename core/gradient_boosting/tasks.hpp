// How the work of a round is divided among threads.
#pragma once

#include <cstddef>

namespace ramify {

// Rows, cells of a row or, in small nodes, features that one task processes.
inline constexpr std::size_t rows_per_task = 64;
inline constexpr std::size_t outputs_per_task = 512;
inline constexpr std::size_t features_per_task = 8;
// Cells below which threads are not worth starting.
inline constexpr std::size_t min_shared_cells = 50'000;

}  // namespace ramify
