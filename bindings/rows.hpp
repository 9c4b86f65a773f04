// X as an argument: dense or sparse, in one type.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "matrices.hpp"
#include "tree/predict.hpp"

namespace ramify::bindings {

/// The rows of a matrix of doubles or floats, or of a sparse one. Checked once; the numpy arrays
/// are kept alive, not copied.
class Rows {
  public:
    explicit Rows(Matrix<double> X)
        : n_rows_(X.shape(0)), n_columns_(X.shape(1)), X_(std::move(X)) {}
    explicit Rows(Matrix<float> X)
        : n_rows_(X.shape(0)), n_columns_(X.shape(1)), X_(std::move(X)) {}
    Rows(Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<double> data,
         std::size_t n_columns)
        : n_columns_(n_columns),
          X_(Sparse{std::move(indptr), std::move(indices), std::move(data)}) {
        const CsrView X = view(std::get<Sparse>(X_));
        require(X.data.size() == X.indices.size(), "data and indices must have the same length");
        check_compressed(X.indptr, X.indices, n_columns);
        n_rows_ = X.indptr.size() - 1;
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return n_columns_; }

    /// work(X), where X is a MatrixView<double>, a MatrixView<float> or a CsrView.
    template <typename Work>
    auto visit(const Work& work) const {
        return std::visit([&](const auto& X) { return work(view(X)); }, X_);
    }

    /// work(scores), where the scores are a MatrixView<double> or a CsrView.
    template <typename Work>
    auto visit_scores(const Work& work) const {
        require(!std::holds_alternative<Matrix<float>>(X_), "scores must be of type float64");
        const auto* dense = std::get_if<Matrix<double>>(&X_);
        return dense != nullptr ? work(view(*dense)) : work(view(std::get<Sparse>(X_)));
    }

    /// work(cells), where the cells are DenseRows<double>, DenseRows<float> or SparseCells.
    template <typename Work>
    auto read(const Work& work) const {
        return visit([&](const auto& X) { return work(cells_of(X)); });
    }

  private:
    struct Sparse {
        Vector<std::int64_t> indptr;
        Vector<std::int32_t> indices;
        Vector<double> data;
    };

    template <typename T>
    MatrixView<T> view(const Matrix<T>& X) const {
        return matrix_view(X);
    }
    CsrView view(const Sparse& X) const {
        return {bindings::view(X.indptr), bindings::view(X.indices), bindings::view(X.data),
                n_columns_};
    }
    template <typename T>
    static DenseRows<T> cells_of(const MatrixView<T>& X) {
        return DenseRows<T>(X);
    }
    static SparseCells cells_of(const CsrView& X) { return SparseCells(X); }

    std::size_t n_rows_ = 0;
    std::size_t n_columns_;
    std::variant<Matrix<double>, Matrix<float>, Sparse> X_;
};

}  // namespace ramify::bindings
