// Trees for one class per row, most rows having the same: one rare label, or a few rare classes.
//
// A gain is largest beside a row of one of the rarer classes: among rows of the commonest one it
// is a convex function of their number. So a test is found from the rare rows alone, if one can
// tell how many rows of the node stand before each of them. The node's rows are bits in the order
// of each feature, which are counted 64 at a time, and a branch has the bits of the node without
// its sibling's.
#pragma once

#include "common/parallel.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/grow.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Whether `grow_by_marks` grows these trees: the same as `grow`'s other ways, but for ties.
bool can_mark(const Dataset& dataset, const Targets& targets, const NodeRows& root,
              const GrowOptions& options);

Tree grow_by_marks(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                   const GrowOptions& options, StopSignal& signal);

}  // namespace ramify
