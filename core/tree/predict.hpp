// Predictions: from rows of X to leaves and label shares.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "data/matrix.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// How branches are combined where a test divides a row; both give the same up to rounding.
enum class Mixing : std::uint8_t {
    by_leaf,  // each leaf times the product of the shares on its path
    by_node,  // every node combines the vectors of its branches, bottom up, as CLUS does
};

/// Rows of a dense matrix by cell.
template <typename T>
class DenseRows {
  public:
    explicit DenseRows(MatrixView<T> X) : X_(X) {}
    std::size_t n_rows() const { return X_.n_rows; }
    void select(std::size_t row) { row_ = row; }
    double operator[](std::int32_t feature) const {
        return cell(row_, static_cast<std::size_t>(feature));
    }
    double cell(std::size_t row, std::size_t feature) const { return X_.at(row, feature); }

  private:
    MatrixView<T> X_;
    std::size_t row_ = 0;
};

/// Rows of a sparse matrix by cell: the selected row is copied to a dense one.
class SparseCells {
  public:
    explicit SparseCells(CsrView X) : X_(X), cells_(X.n_columns, 0.0) {}
    std::size_t n_rows() const { return X_.indptr.size() - 1; }
    void select(std::size_t row);
    double operator[](std::int32_t feature) const {
        return cells_[static_cast<std::size_t>(feature)];
    }

  private:
    CsrView X_;
    std::vector<double> cells_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// Adds the shares of each row's leaf, divided by `divisor`, to its row of `out`
/// (n_rows x n_labels, by rows).
template <typename Rows>
void add_predictions(const Tree& tree, Rows rows, Mixing mixing, double divisor,
                     std::size_t n_labels, StopSignal& signal, std::span<double> out);

/// Fills rows of `out` with the mean of the trees' shares: by_leaf sums first and divides last,
/// by_node adds each tree's share divided by their number. The same for any number of threads.
/// `voters`, if not empty: a row of n_rows cells per tree, 0 where the tree is left out; rows of
/// `out` for which all trees are left out are not changed.
template <typename Rows>
void write_votes(std::span<const Tree* const> trees, const Rows& rows, Mixing mixing,
                 std::size_t n_labels, std::span<const std::uint8_t> voters, unsigned n_threads,
                 StopSignal& signal, std::span<double> out);

/// The leaf of each row; where a test divides it, that of the branch with the largest share.
template <typename Rows>
void find_leaves(const Tree& tree, Rows rows, StopSignal& signal, std::span<std::int32_t> leaf);

}  // namespace ramify
