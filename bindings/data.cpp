// Binds core/data: X by columns and by rows, and X prepared for growing.
#include <cstdint>

#include "data/dataset.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

template <typename X>
void bind_matrix(nb::module_& m, const char* name, const char* n_across, const char* doc) {
    nb::class_<X>(m, name, doc)
        .def(nb::init<Matrix<double>>(), nb::arg("X"))
        .def(nb::init<Matrix<float>>(), nb::arg("X"))
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<double>, std::size_t>(),
             nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg(n_across));
}

Dataset make_dataset(const Columns& X, const Vector<std::int32_t>& n_categories, bool all_dense,
                     unsigned n_threads) {
    const auto conversion = conversion_of(X, n_categories, all_dense, n_threads);
    StopSignal signal(interrupted_by(nullptr));
    return stoppable([&] {
        return X.visit(
            [&](const auto& columns) { return Dataset::from(columns, conversion, signal); });
    });
}

}  // namespace

void init_data(nb::module_& m) {
    bind_matrix<Rows>(m, "Rows", "n_columns",
                      "X by rows, dense or sparse; its arrays are not copied.");
    bind_matrix<Columns>(m, "Columns", "n_rows",
                         "X by columns, dense or sparse; its arrays are not copied.");
    nb::class_<Dataset>(m, "Dataset", "X prepared for growing: ranks and codes per column.")
        .def(nb::new_(&make_dataset), nb::arg("X"), nb::arg("n_categories"),
             nb::arg("all_dense") = false, nb::arg("n_threads") = 1)
        .def_ro("n_rows", &Dataset::n_rows)
        .def_ro("any_missing", &Dataset::any_missing);
}

}  // namespace ramify::bindings
