// X as an argument: dense or sparse, in one type.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "data/matrix.hpp"
#include "matrices.hpp"
#include "tree/predict.hpp"

namespace ramify::bindings {

/// A matrix of doubles or floats, or a sparse one: CsrView or CscView. Checked once; the numpy
/// arrays are kept alive, not copied.
template <typename SparseView>
class Borrowed {
  public:
    explicit Borrowed(Matrix<double> X)
        : n_rows_(X.shape(0)), n_columns_(X.shape(1)), X_(std::move(X)) {}
    explicit Borrowed(Matrix<float> X)
        : n_rows_(X.shape(0)), n_columns_(X.shape(1)), X_(std::move(X)) {}
    /// `n_across`: the columns of a matrix by rows, or the rows of a matrix by columns.
    Borrowed(Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<double> data,
             std::size_t n_across)
        : n_rows_(n_across),
          n_columns_(n_across),
          X_(Sparse{std::move(indptr), std::move(indices), std::move(data), n_across}) {
        const auto X = view(std::get<Sparse>(X_));
        require(X.data.size() == X.indices.size(), "data and indices must have the same length");
        check_compressed(X.indptr, X.indices, n_across);
        (std::is_same_v<SparseView, CsrView> ? n_rows_ : n_columns_) = X.indptr.size() - 1;
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return n_columns_; }

    /// work(X), where X is a MatrixView<double>, a MatrixView<float> or a SparseView.
    template <typename Work>
    auto visit(const Work& work) const {
        return std::visit([&](const auto& X) { return work(view(X)); }, X_);
    }

    /// The same for numbers that may not be floats.
    template <typename Work>
    auto visit_doubles(const Work& work) const {
        require(!std::holds_alternative<Matrix<float>>(X_), "scores must be of type float64");
        const auto* dense = std::get_if<Matrix<double>>(&X_);
        return dense != nullptr ? work(view(*dense)) : work(view(std::get<Sparse>(X_)));
    }

  private:
    struct Sparse {
        Vector<std::int64_t> indptr;
        Vector<std::int32_t> indices;
        Vector<double> data;
        std::size_t n_across;
    };

    template <typename T>
    static MatrixView<T> view(const Matrix<T>& X) {
        return matrix_view(X);
    }
    static SparseView view(const Sparse& X) {
        return {bindings::view(X.indptr), bindings::view(X.indices), bindings::view(X.data),
                X.n_across};
    }

    std::size_t n_rows_;
    std::size_t n_columns_;
    std::variant<Matrix<double>, Matrix<float>, Sparse> X_;
};

/// X by columns, to learn from.
using Columns = Borrowed<CscView>;

/// X by rows, to predict; or scores.
class Rows : public Borrowed<CsrView> {
  public:
    using Borrowed::Borrowed;

    /// work(cells), where the cells are DenseRows<double>, DenseRows<float> or SparseCells.
    template <typename Work>
    auto read(const Work& work) const {
        return visit([&](const auto& X) { return work(cells_of(X)); });
    }

  private:
    template <typename T>
    static DenseRows<T> cells_of(const MatrixView<T>& X) {
        return DenseRows<T>(X);
    }
    static SparseCells cells_of(const CsrView& X) { return SparseCells(X); }
};

/// How to convert X, checked.
inline Conversion conversion_of(const Columns& X, const Vector<std::int32_t>& n_categories,
                                bool all_dense, unsigned n_threads) {
    require(n_categories.size() == X.n_columns(), "n_categories must have one number per column");
    require(X.n_rows() < 0xFFFFFFFFu, "X has too many rows");
    return {view(n_categories), all_dense, n_threads};
}

}  // namespace ramify::bindings
