// Forests: the mean of many trees' predictions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Trees = std::vector<const Tree*>;
using Voters =
    std::optional<nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

template <typename Rows>
void write(const Trees& trees, const Rows& rows, std::size_t n_columns, const OutMatrix& out,
           bool by_node, unsigned n_threads, const Voters& voters) {
    require(!trees.empty(), "there is no tree to predict with");
    require(out.shape(0) == rows.n_rows(), "out and X differ in their rows");
    for (const Tree* tree : trees) check_prediction(*tree, n_columns, out.shape(1));
    std::span<const std::uint8_t> mask;
    if (voters) {
        require(voters->shape(0) == trees.size() && voters->shape(1) == rows.n_rows(),
                "voters must have a row per tree and a column per row of X");
        mask = {voters->data(), voters->size()};
    }
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        write_votes(trees, rows, mixing_of(by_node), out.shape(1), mask, std::max(1u, n_threads),
                    signal, {out.data(), out.size()});
    });
}

template <typename T>
void vote_dense(const Trees& trees, const Matrix<T>& X, const OutMatrix& out, bool by_node,
                unsigned n_threads, const Voters& voters) {
    write(trees, DenseRows<T>(matrix_view(X)), X.shape(1), out, by_node, n_threads, voters);
}

void vote_csr(const Trees& trees, const Vector<std::int64_t>& indptr,
              const Vector<std::int32_t>& indices, const Vector<double>& data,
              std::size_t n_columns, const OutMatrix& out, bool by_node, unsigned n_threads,
              const Voters& voters) {
    write(trees, sparse_cells(indptr, indices, data, n_columns), n_columns, out, by_node,
          n_threads, voters);
}

}  // namespace

void init_votes(nb::module_& m) {
    m.def("vote", &vote_dense<double>, nb::arg("trees"), nb::arg("X"), nb::arg("out"),
          nb::arg("by_node"), nb::arg("n_threads"), nb::arg("voters") = nb::none(),
          "Write the mean of the trees' shares for each row of X; voters: which trees count.");
    m.def("vote", &vote_dense<float>, nb::arg("trees"), nb::arg("X"), nb::arg("out"),
          nb::arg("by_node"), nb::arg("n_threads"), nb::arg("voters") = nb::none());
    m.def("vote_csr", &vote_csr, nb::arg("trees"), nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data"), nb::arg("n_columns"), nb::arg("out"), nb::arg("by_node"),
          nb::arg("n_threads"), nb::arg("voters") = nb::none(),
          "The same for the rows of a sparse matrix.");
}

}  // namespace ramify::bindings
