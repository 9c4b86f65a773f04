// Binds core/data: the features of a data set; and X as predictions read it.
#include <cstdint>

#include "data/dataset.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

template <typename T>
Dataset dataset_from_dense(const Matrix<T>& X, const Vector<std::int32_t>& n_categories,
                           bool all_dense, unsigned n_threads) {
    require(n_categories.size() == X.shape(1), "n_categories must have one number per column");
    require(X.shape(0) < 0xFFFFFFFFu, "X has too many rows");
    StopSignal signal(interrupted_by(nullptr));
    return stoppable([&] {
        return Dataset::from_dense(matrix_view(X), {view(n_categories), all_dense, n_threads},
                                   signal);
    });
}

Dataset dataset_from_csc(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                         const Vector<double>& data, std::size_t n_rows,
                         const Vector<std::int32_t>& n_categories, bool all_dense,
                         unsigned n_threads) {
    require(data.size() == indices.size(), "data and indices must have the same length");
    require(n_rows < 0xFFFFFFFFu, "X has too many rows");
    check_compressed(view(indptr), view(indices), n_rows);
    require(n_categories.size() + 1 == indptr.size(),
            "n_categories must have one number per column");
    StopSignal signal(interrupted_by(nullptr));
    return stoppable([&] {
        return Dataset::from_csc({view(indptr), view(indices), view(data), n_rows},
                                 {view(n_categories), all_dense, n_threads}, signal);
    });
}

}  // namespace

void init_data(nb::module_& m) {
    nb::class_<Rows>(m, "Rows", "Rows of X, dense or sparse; the arrays are borrowed.")
        .def(nb::init<Matrix<double>>(), nb::arg("X"))
        .def(nb::init<Matrix<float>>(), nb::arg("X"))
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<double>, std::size_t>(),
             nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("n_columns"));
    nb::class_<Dataset>(m, "Dataset", "X prepared for growing: ranks and codes per column.")
        .def_static("from_dense", &dataset_from_dense<double>, nb::arg("X"),
                    nb::arg("n_categories"), nb::arg("all_dense") = false,
                    nb::arg("n_threads") = 1)
        .def_static("from_dense", &dataset_from_dense<float>, nb::arg("X"),
                    nb::arg("n_categories"), nb::arg("all_dense") = false,
                    nb::arg("n_threads") = 1)
        .def_static("from_csc", &dataset_from_csc, nb::arg("indptr"), nb::arg("indices"),
                    nb::arg("data"), nb::arg("n_rows"), nb::arg("n_categories"),
                    nb::arg("all_dense") = false, nb::arg("n_threads") = 1)
        .def_ro("n_rows", &Dataset::n_rows)
        .def_ro("any_missing", &Dataset::any_missing);
}

}  // namespace ramify::bindings
