// A tree as arrays of numpy's, for pickles and files.
#pragma once

#include <nanobind/nanobind.h>

#include "tree/tree.hpp"

namespace ramify::bindings {

/// A tree from its arrays, either all of them as they are, or packed. A tree may come from a file:
/// what could lead prediction astray is refused.
Tree tree_from_arrays(
    const nanobind::typed<nanobind::dict, nanobind::str, nanobind::object>& arrays);

/// The arrays of PackedTree, each in the smallest type that holds it exactly; those of the tree as
/// they are where packing would lose something.
nanobind::dict packed_arrays(nanobind::handle_t<Tree> self);

}  // namespace ramify::bindings
