// Mandatory leaf prediction: finds, for every row, the label set with the largest value among
// those that are closed and whose paths all end in leaves.
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

/// The rows to decode, and how.
struct DecodingPlan {
    std::span<const double> rows;  // row_width() numbers each
    Values values;
    std::span<const double> slope;    // for Values::risk
    std::span<const double> offset;   // for Values::risk
    std::span<const std::int32_t> k;  // leaves per row; 0: the best number
    Solver solver;
};

/// Returns the chosen labels of every row; the result does not depend on the number of threads.
/// `stop` is called regularly; if it returns true, Interrupted is thrown.
SparseRows decode(const LeafGraph& graph, const DecodingPlan& plan, unsigned n_threads,
                  std::function<bool()> stop);

}  // namespace ramify
