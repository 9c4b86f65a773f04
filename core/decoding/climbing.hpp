// The labels from the most probable end of each row's path up to the top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"

namespace ramify {

/// The labels of each row from an end up to the top, `length` per row.
struct Climbs {
    std::size_t length;                // the number of levels
    std::vector<std::int64_t> labels;  // -1 after the top
    std::vector<double> values;        // the largest score so far; infinity after the top
};

/// Climbs, in each row, from the label among `ends` at which the path of the row ends most
/// probably, always to the likeliest parent. The probability of ending at a label is its score
/// minus those of its children, but at least 0. Ties are resolved in favour of the first label.
Climbs climb(std::span<const double> scores, SparseRowsView parents,
             std::span<const std::uint8_t> ends, StopSignal& signal);

}  // namespace ramify
