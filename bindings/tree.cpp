// Binds core/tree: trees and their predictions, alone and as the mean of many.
#include "tree/tree.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"
#include "tree/predict.hpp"
#include "tree/prune.hpp"
#include "tree_arrays.hpp"

namespace ramify::bindings {

namespace {

// ---- Tree ----------------------------------------------------------------------------------

/// A read-only numpy view of one of the tree's arrays, alive as long as the tree.
template <typename T, std::vector<T> Tree::* member>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> array_of(nb::handle_t<Tree> self) {
    const auto& values = nb::cast<const Tree&>(self).*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, self);
}

void predict(const Tree& tree, const Rows& X, OutMatrix out, double divisor, bool by_node) {
    require(out.shape(0) == X.n_rows(), "out and X must have the same number of rows");
    check_prediction(tree, X.n_columns(), out.shape(1));
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        X.read([&](auto rows) {
            add_predictions(tree, std::move(rows), mixing_of(by_node), divisor, out.shape(1),
                            signal, std::span<double>(out.data(), out.size()));
        });
    });
}

Owned<std::int32_t> apply(const Tree& tree, const Rows& X) {
    check_prediction(tree, X.n_columns(), static_cast<std::size_t>(-1));
    std::vector<std::int32_t> leaf(X.n_rows());
    StopSignal signal(interrupted_by(nullptr));
    stoppable(
        [&] { X.read([&](auto rows) { find_leaves(tree, std::move(rows), signal, leaf); }); });
    return to_numpy(std::move(leaf));
}

Tree cut_below(const Tree& tree, const Vector<bool>& is_leaf) {
    require(is_leaf.size() == tree.n_nodes(), "is_leaf must have one flag per node");
    std::vector<char> leaves(tree.n_nodes());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        leaves[i] = tree.feature[i] < 0 || is_leaf.data()[i];
    }
    return cut_tree(tree, leaves);
}

void bind_tree(nb::module_& m) {
    nb::class_<Tree> tree(
        m, "Tree",
        "A grown tree as flat, read-only arrays.\n\n"
        "Node 0 is the root; children have larger numbers than their parent.\n"
        "feature[i] < 0 marks a leaf. Branch b of node i leads to node\n"
        "child[child_indptr[i] + b] and gets share[child_indptr[i] + b] of a row\n"
        "with a missing value. A numeric test sends x > threshold[i] to branch 0; a nominal\n"
        "test sends code c to category_branch[category_indptr[i] + c]. The\n"
        "labels of leaf i and their shares are value_label and value from\n"
        "value_indptr[i] to value_indptr[i + 1].");
    tree.def(nb::new_(&tree_from_arrays), nb::arg("arrays"));
    tree.def("__reduce__",
             [](nb::handle_t<Tree> self) -> nb::typed<nb::tuple, nb::object, nb::object> {
                 return nb::typed<nb::tuple, nb::object, nb::object>(
                     nb::make_tuple(self.type(), nb::make_tuple(packed_arrays(self))));
             });
    tree.def_prop_ro("feature", &array_of<std::int32_t, &Tree::feature>);
    tree.def_prop_ro("threshold", &array_of<double, &Tree::threshold>);
    tree.def_prop_ro("weight", &array_of<double, &Tree::weight>);
    tree.def_prop_ro("n_samples", &array_of<std::int64_t, &Tree::n_samples>);
    tree.def_prop_ro("impurity", &array_of<double, &Tree::impurity>);
    tree.def_prop_ro("gain", &array_of<double, &Tree::gain>);
    tree.def_prop_ro("child_indptr", &array_of<std::int64_t, &Tree::child_indptr>);
    tree.def_prop_ro("child", &array_of<std::int32_t, &Tree::child>);
    tree.def_prop_ro("share", &array_of<double, &Tree::share>);
    tree.def_prop_ro("category_indptr", &array_of<std::int64_t, &Tree::category_indptr>);
    tree.def_prop_ro("category_branch", &array_of<std::int32_t, &Tree::category_branch>);
    tree.def_prop_ro("value_indptr", &array_of<std::int64_t, &Tree::value_indptr>);
    tree.def_prop_ro("value_label", &array_of<std::int32_t, &Tree::value_label>);
    tree.def_prop_ro("value", &array_of<double, &Tree::value>);

    tree.def("predict", &predict, nb::arg("X"), nb::arg("out"), nb::arg("divisor"),
             nb::arg("by_node"), "Add each row's shares, divided by divisor, to out.");
    tree.def("cut", &cut_below, nb::arg("is_leaf"),
             "The tree cut off below the marked nodes, which must have values.");
    tree.def("apply", &apply, nb::arg("X"), "The leaf of each row.");
}

// ---- votes ---------------------------------------------------------------------------------

using Trees = std::vector<const Tree*>;
using Voters =
    std::optional<nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

void vote(const Trees& trees, const Rows& X, const OutMatrix& out, bool by_node,
          unsigned n_threads, const Voters& voters) {
    require(!trees.empty(), "trees must not be empty");
    require(out.shape(0) == X.n_rows(), "out and X must have the same number of rows");
    for (const Tree* tree : trees) check_prediction(*tree, X.n_columns(), out.shape(1));
    std::span<const std::uint8_t> mask;
    if (voters) {
        require(voters->shape(0) == trees.size() && voters->shape(1) == X.n_rows(),
                "voters must have a row per tree and a column per row of X");
        mask = {voters->data(), voters->size()};
    }
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        X.read([&](const auto& rows) {
            write_votes(trees, rows, mixing_of(by_node), out.shape(1), mask,
                        std::max(1u, n_threads), signal, {out.data(), out.size()});
        });
    });
}

void bind_votes(nb::module_& m) {
    m.def("vote", &vote, nb::arg("trees"), nb::arg("X"), nb::arg("out"), nb::arg("by_node"),
          nb::arg("n_threads"), nb::arg("voters") = nb::none(),
          "Write the mean of the trees' shares for each row of X; voters: which trees count.");
}

}  // namespace

void init_tree(nb::module_& m) {
    bind_tree(m);
    bind_votes(m);
}

}  // namespace ramify::bindings
