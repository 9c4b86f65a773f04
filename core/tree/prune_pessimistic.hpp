// C4.5's pruning: no rows are held out; errors are estimated by an upper confidence limit on the
// training rows.
#pragma once

#include "common/parallel.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// The errors to expect of a leaf with `weight` rows of which `errors` are wrong: the upper limit
/// of a one-sided confidence interval for the binomial, by the normal approximation with a
/// correction for continuity; exact for no errors, and linear from there to one error.
double pessimistic_errors(double weight, double errors, const Pessimism& pessimism);

/// From the bottom up, a node becomes a leaf, or is replaced by its largest branch, where that is
/// not expected to make more errors. `tree` must carry values in its inner nodes. Throws
/// Interrupted.
Tree prune_pessimistic(const Tree& tree, const Dataset& dataset, const Targets& targets,
                       const NodeRows& root, const GrowOptions& options, StopSignal& signal);

}  // namespace ramify
