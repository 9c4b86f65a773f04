// Repairs scores that violate the hierarchy: no label may have a higher score than a parent.
#pragma once

#include <functional>
#include <span>

#include "hierarchy/closure.hpp"

namespace ramify {

/// How incoherent scores are repaired.
enum class Repair {
    max,       // the largest score of a label and its descendants
    min,       // the smallest score of a label and its ancestors
    isotonic,  // the coherent scores with the smallest weighted squared distance
};

/// Whether no label of the row has a higher score than one of its parents. Here and below,
/// `parents` lists the direct parents; labels are in topological order (parents[l] < l).
bool is_coherent(std::span<const double> row, SparseRowsView parents);

/// Repairs rows of n_labels scores in place; coherent rows do not change. `weight` has a positive
/// weight per label and is used by Repair::isotonic. Scores must be finite. The result does not
/// depend on the number of threads. `stop` is called regularly; if it returns true, Interrupted is
/// thrown.
void make_coherent(std::span<double> scores, SparseRowsView parents,
                   std::span<const double> weight, Repair repair, unsigned n_threads,
                   std::function<bool()> stop);

}  // namespace ramify
