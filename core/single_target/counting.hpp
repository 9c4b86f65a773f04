// Trees for one label, grown by counting values instead of keeping orders.
//
// With one label, the rows of a node with one value of a feature are two numbers, so that a test
// is found by adding up rows by value and looking at each value once. No order is kept or handed
// down, which is most of what a tree for many labels costs.
#pragma once

#include "common/parallel.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/grow.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Whether `grow_by_counting` grows these trees: the same as `grow`'s other way, but for ties.
bool can_count(const Dataset& dataset, const Targets& targets, const GrowOptions& options);

Tree grow_by_counting(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                      const GrowOptions& options, StopSignal& signal);

}  // namespace ramify
