// Closure of label sets: a row that has a label also has all ancestors of the label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Compressed sparse rows without values: row r owns indices[indptr[r]] .. indices[indptr[r + 1]].
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

/// All ancestors of every label, sorted, the label itself left out.
/// `parents` lists the direct parents; labels are in topological order (parents[l] < l).
SparseRows ancestors(SparseRowsView parents);

/// The union of the labels and their ancestors for each row, sorted and without duplicates. A row
/// costs as much as its labels have ancestors, plus n_labels / 4096.
SparseRows close_upwards(SparseRowsView labels, SparseRowsView ancestors_of);

/// The labels of each row that are not ancestors of another label of the row, sorted and without
/// duplicates.
SparseRows most_specific(SparseRowsView labels, SparseRowsView ancestors_of);

}  // namespace ramify
