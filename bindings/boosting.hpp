// What the bindings of gradient boosting share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gradient_boosting/options.hpp"
#include "gradient_boosting/predicting.hpp"

namespace ramify::bindings {

Loss loss_of(const std::string& name);

/// Rows as the core has them; throws unless they increase and lie within X.
std::vector<std::uint32_t> check_rows(std::span<const std::int64_t> rows, std::size_t n_rows);

/// Appends a tree to a model; throws if its arrays do not fit together.
void append_tree(BoostedTrees& model, BoostedTree tree);

}  // namespace ramify::bindings
