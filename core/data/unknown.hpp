// Labels that are not known for some rows.
#pragma once

#include <cstdint>
#include <span>

#include "common/sparse_rows.hpp"

namespace ramify {

/// Rows with the same unknown labels share a pattern, so that memory follows the distinct ones.
/// A label that a row has is known, and so are its ancestors; of a label that it is known not to
/// have, the descendants are known. Borrowed.
struct UnknownLabels {
    std::span<const std::uint32_t> of_row;  // per row: its pattern
    SparseRowsView patterns;                // per pattern: its labels, increasing
    SparseRowsView parents;                 // per label: its parents, which come before it
};

/// A label with less known weight than this, as a fraction of all, has none: sums obtained by
/// subtraction are seldom exactly zero.
inline constexpr double smallest_known_share = 1e-9;

}  // namespace ramify
