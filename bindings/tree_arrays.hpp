// Trees as numpy arrays, for pickles and files.
#pragma once

#include <nanobind/nanobind.h>

#include "tree/tree.hpp"

namespace ramify::bindings {

/// A tree from its arrays, packed or not. The arrays may come from a file: everything that could
/// make predictions read out of bounds is refused.
Tree tree_from_arrays(
    const nanobind::typed<nanobind::dict, nanobind::str, nanobind::object>& arrays);

/// The arrays of PackedTree, each in the smallest exact type; the arrays of the tree itself if
/// packing would not be exact.
nanobind::dict packed_arrays(nanobind::handle_t<Tree> self);

}  // namespace ramify::bindings
