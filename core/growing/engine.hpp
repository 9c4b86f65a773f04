// Which engine grows a tree.
#pragma once

#include <optional>
#include <string>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"

namespace ramify {

/// Why an engine cannot grow a tree with these options on these rows; nothing if it can.
std::optional<std::string> why_ineligible(Engine engine, const Dataset& dataset,
                                          const Targets& targets, const NodeRows& root,
                                          const GrowOptions& options);

/// The engine asked for, or the fastest eligible one. All engines grow the same tree up to
/// rounding. Throws std::invalid_argument if the engine asked for is not eligible.
Engine choose_engine(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                     const GrowOptions& options);

}  // namespace ramify
