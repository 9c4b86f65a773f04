// Python's view of the tree engine: Dataset, Tree, grow and predict.
#include "tree/tree.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "criteria/node_labels.hpp"
#include "data/dataset.hpp"
#include "growing/grow.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "stopping.hpp"
#include "tree/predict.hpp"
#include "tree/prune.hpp"
#include "tree_arrays.hpp"

namespace ramify::bindings {

namespace {

// ---- Dataset -------------------------------------------------------------------------------

template <typename T>
Dataset dataset_from_dense(const Matrix<T>& X, const Vector<std::int32_t>& n_categories,
                           bool all_dense) {
    require(n_categories.size() == X.shape(1), "n_categories must have one number per column");
    require(X.shape(0) < 0xFFFFFFFFu, "X has too many rows");
    nb::gil_scoped_release release;
    return Dataset::from_dense(matrix_view(X), view(n_categories), all_dense);
}

Dataset dataset_from_csc(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                         const Vector<double>& data, std::size_t n_rows,
                         const Vector<std::int32_t>& n_categories, bool all_dense) {
    require(data.size() == indices.size(), "data and indices must have the same length");
    require(n_rows < 0xFFFFFFFFu, "X has too many rows");
    check_compressed(view(indptr), view(indices), n_rows);
    require(n_categories.size() + 1 == indptr.size(),
            "n_categories must have one number per column");
    nb::gil_scoped_release release;
    return Dataset::from_csc({view(indptr), view(indices), view(data), n_rows}, view(n_categories),
                             all_dense);
}

// ---- growing -------------------------------------------------------------------------------

Criterion criterion_of(const std::string& name) {
    if (name == "variance") return Criterion::variance;
    if (name == "entropy") return Criterion::entropy;
    if (name == "class_entropy") return Criterion::class_entropy;
    if (name == "distance") return Criterion::distance;
    throw std::invalid_argument("unknown criterion " + name);
}

NominalTests nominal_tests_of(const std::string& name) {
    if (name == "subset") return NominalTests::subset;
    if (name == "single") return NominalTests::single;
    if (name == "nary") return NominalTests::nary;
    throw std::invalid_argument("unknown nominal_tests " + name);
}

LeafMerging merging_of(const std::string& name) {
    if (name == "none") return LeafMerging::none;
    if (name == "equal") return LeafMerging::equal;
    if (name == "same_labels") return LeafMerging::same_labels;
    throw std::invalid_argument("unknown merging " + name);
}

Prototype prototype_of(const std::string& name) {
    if (name == "mean") return Prototype::mean;
    if (name == "medoid") return Prototype::medoid;
    throw std::invalid_argument("unknown prototype " + name);
}

GrowOptions options_of(const nb::dict& given) {
    GrowOptions options;
    SplitRules& rules = options.rules;
    options.criterion = criterion_of(nb::cast<std::string>(given["criterion"]));
    options.max_depth = nb::cast<std::int64_t>(given["max_depth"]);
    options.min_samples_split = nb::cast<double>(given["min_samples_split"]);
    options.min_gain = nb::cast<double>(given["min_gain"]);
    options.max_features = nb::cast<std::size_t>(given["max_features"]);
    options.redraw = nb::cast<bool>(given["redraw"]);
    options.hidden_feature = nb::cast<std::int64_t>(given["hidden"]);
    options.merging = merging_of(nb::cast<std::string>(given["merging"]));
    options.prototype = prototype_of(nb::cast<std::string>(given["prototype"]));
    options.pessimism.confidence = nb::cast<double>(given["confidence"]);
    options.pessimism.z = nb::cast<double>(given["normal_quantile"]);
    options.inner_values = nb::cast<bool>(given["inner_values"]);
    options.seed = nb::cast<std::uint64_t>(given["seed"]);
    options.java_random = nb::cast<bool>(given["java_random"]);
    options.n_threads = nb::cast<unsigned>(given["n_threads"]);
    rules.min_weight = nb::cast<double>(given["min_weight"]);
    rules.min_samples_leaf = nb::cast<double>(given["min_samples_leaf"]);
    rules.midpoint = nb::cast<bool>(given["midpoint"]);
    rules.random_thresholds = nb::cast<bool>(given["random_thresholds"]);
    rules.nominal_tests = nominal_tests_of(nb::cast<std::string>(given["nominal_tests"]));
    rules.c45 = nb::cast<bool>(given["average_gain"]);
    rules.gain_ratio = nb::cast<bool>(given["gain_ratio"]);
    rules.mean_score = nb::cast<bool>(given["mean_score"]);
    rules.score_factor = nb::cast<double>(given["score_factor"]);
    rules.f_critical = nb::cast<std::vector<double>>(given["f_critical"]);
    rules.clus = nb::cast<bool>(given["clus"]);
    rules.clus_floor = nb::cast<double>(given["clus_floor"]);
    rules.clus_step = nb::cast<double>(given["clus_step"]);
    return options;
}

NodeRows root_rows(std::span<const std::int64_t> rows, std::span<const double> weights,
                   std::size_t n_rows) {
    require(rows.size() == weights.size(), "rows and weights must have the same length");
    require(!rows.empty(), "there is no row to learn from");
    NodeRows root;
    double total = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        require(rows[k] >= 0 && static_cast<std::size_t>(rows[k]) < n_rows &&
                    (k == 0 || rows[k - 1] < rows[k]),
                "rows must increase and lie within X");
        require(weights[k] >= 0 && std::isfinite(weights[k]),
                "weights must be finite and not negative");
        total += weights[k];
        root.push_back(static_cast<std::uint32_t>(rows[k]), weights[k], 1.0);
    }
    require(total > 0 && std::isfinite(total), "the weights must have a positive, finite sum");
    return root;
}

/// Numbers of label sets per row and their squared distances, as far as the options need them.
LabelSets label_sets_of(const Vector<std::uint32_t>& of_row, const Matrix<double>& squared,
                        const GrowOptions& options, std::size_t n_rows) {
    const bool by_distance = options.criterion == Criterion::distance;
    if (!by_distance && options.prototype == Prototype::mean) return {};
    require(of_row.size() == n_rows, "set_of_row must have one number per row");
    const auto numbers = view(of_row);
    LabelSets sets{numbers, {}, 0};
    for (const auto number : numbers) {
        sets.n_sets = std::max<std::size_t>(sets.n_sets, std::size_t{number} + 1);
    }
    require(sets.n_sets <= n_rows, "set_of_row must not skip numbers");
    require(!by_distance || squared.size() > 0, "distances need a matrix");
    if (squared.size() == 0) return sets;
    require(squared.shape(0) >= sets.n_sets && squared.shape(0) == squared.shape(1) &&
                squared.stride(1) == 1 &&
                squared.stride(0) == static_cast<std::int64_t>(squared.shape(1)),
            "squared must be a square matrix, row by row, with a row per label set");
    sets.n_sets = squared.shape(0);
    sets.squared = {squared.data(), squared.size()};
    return sets;
}

/// Labels of all rows, checked, and numbered if many trees will learn from them.
struct Labels {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> weight;  // per label
    std::optional<NodeLabels> numbered;

    Targets targets() const {
        return {{indptr, indices}, weight, {}, numbered ? &*numbered : nullptr};
    }
};

template <typename T>
std::vector<T> copy_of(const Vector<T>& given) {
    const auto values = view(given);
    return {values.begin(), values.end()};
}

void make_labels(Labels* place, const Vector<std::int64_t>& indptr,
                 const Vector<std::int32_t>& indices, const Vector<double>& weight, bool many) {
    check_compressed(view(indptr), view(indices), weight.size());
    Labels labels{copy_of(indptr), copy_of(indices), copy_of(weight), {}};
    if (many) {
        nb::gil_scoped_release release;
        labels.numbered = number_labels(labels.targets(), labels.indptr.size() - 1);
    }
    new (place) Labels(std::move(labels));  // last: nobody would destroy it after an error
}

Tree grow_tree(const Dataset& dataset, const Labels& labels, const Vector<std::int64_t>& rows,
               const Vector<double>& weights, const Vector<std::uint32_t>& set_of_row,
               const Matrix<double>& squared,
               const nb::typed<nb::dict, nb::str, nb::object>& given, const StopFlag* stop) {
    GrowOptions options = options_of(given);
    options.interrupted = interrupted_by(stop);
    require(labels.indptr.size() == dataset.n_rows + 1, "labels and X differ in their rows");
    Targets targets = labels.targets();
    targets.sets = label_sets_of(set_of_row, squared, options, dataset.n_rows);
    NodeRows root = root_rows(view(rows), view(weights), dataset.n_rows);
    return stoppable([&] { return grow(dataset, targets, std::move(root), options); });
}

// ---- Tree ----------------------------------------------------------------------------------

/// A read-only numpy view of one of the tree's arrays, alive as long as the tree.
template <typename T, std::vector<T> Tree::* member>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> array_of(nb::handle_t<Tree> self) {
    const auto& values = nb::cast<const Tree&>(self).*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, self);
}

template <typename T>
void predict_dense(const Tree& tree, const Matrix<T>& X, OutMatrix out, double divisor,
                   bool by_node) {
    require(out.shape(0) == X.shape(0), "out and X differ in their rows");
    check_prediction(tree, X.shape(1), out.shape(1));
    nb::gil_scoped_release release;
    add_predictions(tree, DenseRows<T>(matrix_view(X)), mixing_of(by_node), divisor, out.shape(1),
                    std::span<double>(out.data(), out.size()));
}

void predict_csr(const Tree& tree, const Vector<std::int64_t>& indptr,
                 const Vector<std::int32_t>& indices, const Vector<double>& data,
                 std::size_t n_columns, OutMatrix out, double divisor, bool by_node) {
    auto rows = sparse_cells(indptr, indices, data, n_columns);
    require(out.shape(0) == rows.n_rows(), "out and X differ in their rows");
    check_prediction(tree, n_columns, out.shape(1));
    nb::gil_scoped_release release;
    add_predictions(tree, std::move(rows), mixing_of(by_node), divisor, out.shape(1),
                    std::span<double>(out.data(), out.size()));
}

template <typename T>
nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>> apply_dense(const Tree& tree,
                                                              const Matrix<T>& X) {
    check_prediction(tree, X.shape(1), static_cast<std::size_t>(-1));
    std::vector<std::int32_t> leaf(X.shape(0));
    {
        nb::gil_scoped_release release;
        find_leaves(tree, DenseRows<T>(matrix_view(X)), leaf);
    }
    return to_numpy(std::move(leaf));
}

nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>> apply_csr(const Tree& tree,
                                                            const Vector<std::int64_t>& indptr,
                                                            const Vector<std::int32_t>& indices,
                                                            const Vector<double>& data,
                                                            std::size_t n_columns) {
    auto rows = sparse_cells(indptr, indices, data, n_columns);
    check_prediction(tree, n_columns, static_cast<std::size_t>(-1));
    std::vector<std::int32_t> leaf(rows.n_rows());
    {
        nb::gil_scoped_release release;
        find_leaves(tree, std::move(rows), leaf);
    }
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
        "child[child_indptr[i] + b] and holds share[child_indptr[i] + b] of the\n"
        "weight. A numeric test sends x > threshold[i] to branch 0; a nominal\n"
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

    tree.def("predict", &predict_dense<double>, nb::arg("X"), nb::arg("out"), nb::arg("divisor"),
             nb::arg("by_node"), "Add each row's shares, divided by divisor, to out.");
    tree.def("predict", &predict_dense<float>, nb::arg("X"), nb::arg("out"), nb::arg("divisor"),
             nb::arg("by_node"));
    tree.def("predict_csr", &predict_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
             nb::arg("n_columns"), nb::arg("out"), nb::arg("divisor"), nb::arg("by_node"),
             "The same for the rows of a sparse matrix.");
    tree.def("cut", &cut_below, nb::arg("is_leaf"),
             "The tree cut off below the marked nodes, which must have values.");
    tree.def("apply", &apply_dense<double>, nb::arg("X"), "The leaf of each row.");
    tree.def("apply", &apply_dense<float>, nb::arg("X"));
    tree.def("apply_csr", &apply_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
             nb::arg("n_columns"), "The leaf of each row of a sparse matrix.");
}

}  // namespace

void init_tree(nb::module_& m) {
    nb::class_<Dataset>(m, "Dataset", "X prepared for growing: ranks and codes per column.")
        .def_static("from_dense", &dataset_from_dense<double>, nb::arg("X"),
                    nb::arg("n_categories"), nb::arg("all_dense") = false)
        .def_static("from_dense", &dataset_from_dense<float>, nb::arg("X"),
                    nb::arg("n_categories"), nb::arg("all_dense") = false)
        .def_static("from_csc", &dataset_from_csc, nb::arg("indptr"), nb::arg("indices"),
                    nb::arg("data"), nb::arg("n_rows"), nb::arg("n_categories"),
                    nb::arg("all_dense") = false)
        .def_ro("n_rows", &Dataset::n_rows)
        .def_ro("any_missing", &Dataset::any_missing);
    bind_tree(m);
    nb::class_<StopFlag>(m, "StopFlag", "Tells growing trees in any thread to stop.")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.set = true; });
    nb::class_<Labels>(m, "Labels", "Labels of the rows of a Dataset, prepared for growing.")
        .def("__init__", &make_labels, nb::arg("indptr"), nb::arg("indices"), nb::arg("weight"),
             nb::arg("many") = false,
             "Rows of label numbers and the labels' weights; many: for more than one tree.");
    m.def("grow", &grow_tree, nb::arg("dataset"), nb::arg("labels"), nb::arg("rows"),
          nb::arg("weights"), nb::arg("set_of_row"), nb::arg("squared"), nb::arg("options"),
          nb::arg("stop").none() = nb::none(),
          "Grow a tree; options are those of core/growing/grow.hpp by name.");
}

}  // namespace ramify::bindings
