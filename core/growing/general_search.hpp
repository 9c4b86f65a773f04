// The general engine: any number of labels, any options.
#pragma once

#include "common/parallel.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "tree/tree.hpp"

namespace ramify {

Tree grow_general(const Dataset& dataset, const Targets& targets, NodeRows root,
                  const GrowOptions& options, StopSignal& signal);

}  // namespace ramify
