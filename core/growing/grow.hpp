// The induction loop: from rows and labels to a tree.
#pragma once

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Grows a tree on the rows of `root`. The tree is the same for any number of threads: the test of
/// a node depends only on its rows and its place in the tree. Throws Interrupted, and
/// std::invalid_argument if options.engine does not support the options or the data.
Tree grow(const Dataset& dataset, const Targets& targets, NodeRows root,
          const GrowOptions& options);

}  // namespace ramify
