// Mandatory leaf prediction: for every row the label set of largest value among those that are
// closed upwards and whose paths all end in leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "decoding/graph.hpp"
#include "decoding/weights.hpp"

namespace ramify {

enum class Solver {
    greedy,  // trees and DAGs
    exact,   // trees only
};

/// Rows of numbers and how to decide them.
struct DecodingPlan {
    std::span<const double> rows;  // row_width() numbers each
    Values values;
    std::span<const double> slope;    // for Values::risk
    std::span<const double> offset;   // for Values::risk
    std::span<const std::int32_t> k;  // leaves per row; 0: as many as are best
    Solver solver;
};

/// The chosen labels of every row. The answer does not depend on the number of threads. `stop` is
/// asked now and then whether to give up; then Interrupted is thrown.
SparseRows decode(const LeafGraph& graph, const DecodingPlan& plan, unsigned n_threads,
                  std::function<bool()> stop);

}  // namespace ramify
