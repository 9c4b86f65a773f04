// Repair of scores that break the hierarchy, row by row: no label may score above a parent.
#pragma once

#include <functional>
#include <span>

#include "hierarchy/closure.hpp"

namespace ramify {

/// How incoherent scores are repaired.
enum class Repair {
    max,       // a label gets the largest score of itself and its descendants
    min,       // a label gets the smallest score of itself and its ancestors
    isotonic,  // the coherent scores with the smallest weighted squared distance
};

/// Tells whether no label of the row scores above one of its parents.
/// Here and below `parents` lists direct parents, labels in topological order (parents[l] < l).
bool is_coherent(std::span<const double> row, SparseRowsView parents);

/// Repairs rows of n_labels scores each in place; coherent rows are left bit for bit.
/// `weight`: a positive weight per label, for Repair::isotonic. Scores must be finite.
/// The answer does not depend on the number of threads. `stop` is asked now and then whether to
/// give up; then Interrupted is thrown.
void make_coherent(std::span<double> scores, SparseRowsView parents,
                   std::span<const double> weight, Repair repair, unsigned n_threads,
                   std::function<bool()> stop);

}  // namespace ramify
