// Sets of labels as an argument: those of rows, or the parents of labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "arrays.hpp"
#include "common/sparse_rows.hpp"
#include "matrices.hpp"

namespace ramify::bindings {

/// Sets of labels below n_labels. Checked once; the numpy arrays are kept alive, not copied.
class LabelRows {
  public:
    LabelRows(Vector<std::int64_t> indptr, Vector<std::int32_t> indices, std::size_t n_labels)
        : indptr_(std::move(indptr)), indices_(std::move(indices)), n_labels_(n_labels) {
        const auto sets = rows();
        require(!sets.indptr.empty() && sets.indptr.front() == 0 &&
                    sets.indptr.back() == static_cast<std::int64_t>(sets.indices.size()),
                "indptr must start at 0 and end at len(indices)");
        for (std::size_t r = 0; r < sets.n_rows(); ++r) {
            require(sets.indptr[r] <= sets.indptr[r + 1], "indptr must not decrease");
        }
        topological_ = sets.n_rows() == n_labels;
        for (std::size_t r = 0; r < sets.n_rows(); ++r) {
            std::int32_t before = -1;
            for (const std::int32_t label : sets.row(r)) {
                require(label >= 0 && static_cast<std::size_t>(label) < n_labels,
                        "indices must lie in [0, n_labels)");
                increasing_ = increasing_ && label > before;
                topological_ = topological_ && static_cast<std::size_t>(label) < r;
                before = label;
            }
        }
    }

    std::size_t n_labels() const { return n_labels_; }
    std::size_t n_rows() const { return indptr_.size() - 1; }

    SparseRowsView rows() const { return {view(indptr_), view(indices_)}; }
    /// The same where a label that comes twice would be counted twice.
    SparseRowsView sorted() const {
        require(increasing_, "indices must increase in every row");
        return rows();
    }
    /// The parents of every label, which come before it.
    SparseRowsView parents() const {
        require(topological_, "labels must be in topological order");
        return rows();
    }

  private:
    Vector<std::int64_t> indptr_;
    Vector<std::int32_t> indices_;
    std::size_t n_labels_;
    bool increasing_ = true;
    bool topological_ = true;
};

/// Checks labels that are not known: of each row the number of a pattern, a set of labels.
inline void check_patterns(const Vector<std::uint32_t>& of_row, const LabelRows& patterns,
                           std::size_t n_rows, std::size_t n_labels) {
    require(of_row.size() == n_rows, "of_row must have one pattern per row");
    require(patterns.n_labels() == n_labels, "patterns must have the labels of rows");
    require(std::ranges::all_of(view(of_row), [&](auto k) { return k < patterns.n_rows(); }),
            "of_row must be below the number of patterns");
    patterns.sorted();
}

}  // namespace ramify::bindings
