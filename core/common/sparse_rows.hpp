// Compressed sparse rows without values, owned and borrowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Row r has the indices from indices[indptr[r]] up to, but not including, indices[indptr[r + 1]].
struct SparseRows {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
};

/// A borrowed view of the same layout. The caller guarantees that indptr starts at 0, never
/// decreases and ends at indices.size().
struct SparseRowsView {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;

    std::size_t n_rows() const { return indptr.size() - 1; }
    std::span<const std::int32_t> row(std::size_t r) const {
        return indices.subspan(static_cast<std::size_t>(indptr[r]),
                               static_cast<std::size_t>(indptr[r + 1] - indptr[r]));
    }
};

}  // namespace ramify
