// Binds the trees of boosted models, and predictions from them.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "boosting.hpp"
#include "gradient_boosting/predicting.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Arrays = nb::typed<nb::dict, nb::str, nb::object>;
using FloatMatrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstFloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_tree(const BoostedTree& tree, std::size_t n_features, std::size_t n_outputs) {
    const auto n = tree.n_nodes();
    require(n > 0, "a tree must have a node");
    require(tree.threshold.size() == n && tree.missing_yes.size() == n && tree.yes.size() == n &&
                tree.no.size() == n && tree.gain.size() == n && tree.weight.size() == n &&
                tree.leaf.size() == n && tree.category_indptr.size() == n + 1,
            "the arrays of a tree must have one cell per node");
    require(tree.category_indptr.front() == 0 &&
                tree.category_indptr.back() == static_cast<std::int64_t>(tree.category_yes.size()),
            "category_indptr must start at 0 and end at len(category_yes)");
    std::int64_t n_leaves = 0;
    std::vector<bool> has_parent(n, false);
    const auto is_child = [&](std::int32_t child, std::size_t node) {
        return child > static_cast<std::int64_t>(node) && child < static_cast<std::int64_t>(n);
    };
    for (std::size_t node = 0; node < n; ++node) {
        require(tree.category_indptr[node] <= tree.category_indptr[node + 1],
                "category_indptr must not decrease");
        require(node == 0 || has_parent[node], "a node must have one parent");
        if (tree.feature[node] < 0) {
            require(tree.leaf[node] == n_leaves++, "leaves must be numbered in order");
        } else {
            require(static_cast<std::size_t>(tree.feature[node]) < n_features,
                    "a tree tests a feature that does not exist");
            require(is_child(tree.yes[node], node) && is_child(tree.no[node], node),
                    "children must come after their parents");
            for (const auto child : {tree.yes[node], tree.no[node]}) {
                require(!has_parent[static_cast<std::size_t>(child)],
                        "a node must have one parent");
                has_parent[static_cast<std::size_t>(child)] = true;
            }
        }
    }
    require(tree.value.size() == static_cast<std::size_t>(n_leaves) * n_outputs,
            "value must have one cell per leaf and output");
}

}  // namespace

Loss loss_of(const std::string& name) {
    require(name == "logistic" || name == "softmax", "loss must be 'logistic' or 'softmax'");
    return name == "logistic" ? Loss::logistic : Loss::softmax;
}

void append_tree(BoostedTrees& model, BoostedTree tree) {
    check_tree(tree, model.n_features, model.n_outputs);
    model.trees.push_back(std::move(tree));
}

namespace {

template <typename T>
std::vector<T> vector_of(const Arrays& arrays, const char* name) {
    const auto array = nb::cast<Vector<T>>(arrays[name]);
    return {array.data(), array.data() + array.size()};
}

void append_arrays(BoostedTrees& model, const Arrays& arrays) {
    BoostedTree tree;
    tree.feature = vector_of<std::int32_t>(arrays, "feature");
    tree.threshold = vector_of<double>(arrays, "threshold");
    tree.missing_yes = vector_of<std::uint8_t>(arrays, "missing_yes");
    tree.yes = vector_of<std::int32_t>(arrays, "yes");
    tree.no = vector_of<std::int32_t>(arrays, "no");
    tree.gain = vector_of<double>(arrays, "gain");
    tree.weight = vector_of<double>(arrays, "weight");
    tree.category_indptr = vector_of<std::int64_t>(arrays, "category_indptr");
    tree.category_yes = vector_of<std::uint8_t>(arrays, "category_yes");
    tree.leaf = vector_of<std::int32_t>(arrays, "leaf");
    tree.value = vector_of<float>(arrays, "value");
    append_tree(model, std::move(tree));
}

const BoostedTree& tree_at(const BoostedTrees& model, std::size_t number) {
    if (number >= model.trees.size()) throw nb::index_error("there is no such tree");
    return model.trees[number];
}

Arrays arrays_of(const BoostedTrees& model, std::size_t number) {
    const auto& tree = tree_at(model, number);
    nb::dict arrays;
    arrays["feature"] = to_numpy(std::vector(tree.feature));
    arrays["threshold"] = to_numpy(std::vector(tree.threshold));
    arrays["missing_yes"] = to_numpy(std::vector(tree.missing_yes));
    arrays["yes"] = to_numpy(std::vector(tree.yes));
    arrays["no"] = to_numpy(std::vector(tree.no));
    arrays["gain"] = to_numpy(std::vector(tree.gain));
    arrays["weight"] = to_numpy(std::vector(tree.weight));
    arrays["category_indptr"] = to_numpy(std::vector(tree.category_indptr));
    arrays["category_yes"] = to_numpy(std::vector(tree.category_yes));
    arrays["leaf"] = to_numpy(std::vector(tree.leaf));
    arrays["value"] = to_numpy(std::vector(tree.value));
    return Arrays(arrays);
}

nb::typed<nb::tuple, nb::object, nb::object> reduce(nb::handle_t<BoostedTrees> self) {
    const auto& model = nb::cast<const BoostedTrees&>(self);
    nb::list trees;
    for (std::size_t i = 0; i < model.trees.size(); ++i) trees.append(arrays_of(model, i));
    return nb::typed<nb::tuple, nb::object, nb::object>(nb::make_tuple(
        self.type(), nb::make_tuple(model.n_outputs, model.n_features, std::move(trees))));
}

void add_to_margins(const BoostedTrees& model, const Rows& X, std::size_t first, std::size_t last,
                    unsigned n_threads, const FloatMatrix& out) {
    require(X.n_columns() == model.n_features, "X must have a column per feature");
    require(first <= last && last <= model.trees.size(), "the range of trees is not valid");
    require(out.shape(0) == X.n_rows() && out.shape(1) == model.n_outputs,
            "out must have a row per row and a column per output");
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        X.read([&](const auto& rows) {
            add_boosted_margins(model, first, last, rows, std::max(1U, n_threads), signal,
                                {out.data(), out.size()});
        });
    });
}

Owned<std::int32_t> leaves_of(const BoostedTrees& model, std::size_t number, const Rows& X) {
    require(X.n_columns() == model.n_features, "X must have a column per feature");
    std::vector<std::int32_t> leaf(X.n_rows());
    const auto& tree = tree_at(model, number);
    X.read([&](auto rows) { find_boosted_leaves(tree, std::move(rows), leaf); });
    return to_numpy(std::move(leaf));
}

void to_probabilities(const std::string& loss, const ConstFloatMatrix& margins, unsigned n_threads,
                      const OutMatrix& out) {
    require(out.shape(0) == margins.shape(0) && out.shape(1) == margins.shape(1),
            "out must have the shape of margins");
    const auto kind = loss_of(loss);
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        margins_to_probabilities(kind, {margins.data(), margins.size()}, margins.shape(1),
                                 std::max(1U, n_threads), signal, {out.data(), out.size()});
    });
}

}  // namespace

void init_boosted_trees(nb::module_& m) {
    nb::class_<BoostedTrees>(m, "BoostedTrees", "The trees of a boosted model.")
        .def(
            "__init__",
            [](BoostedTrees* self, std::size_t n_outputs, std::size_t n_features,
               const nb::typed<nb::list, Arrays>& trees) {
                BoostedTrees model{n_outputs, n_features, {}};
                for (const auto tree : trees) append_arrays(model, nb::cast<Arrays>(tree));
                new (self) BoostedTrees(std::move(model));
            },
            nb::arg("n_outputs"), nb::arg("n_features"), nb::arg("trees") = nb::list())
        .def("__reduce__", &reduce)
        .def_ro("n_outputs", &BoostedTrees::n_outputs)
        .def_ro("n_features", &BoostedTrees::n_features)
        .def("__len__", [](const BoostedTrees& model) { return model.trees.size(); })
        .def("copy", [](const BoostedTrees& model) { return BoostedTrees(model); })
        .def(
            "truncate",
            [](BoostedTrees& model, std::size_t n_trees) {
                if (n_trees < model.trees.size()) model.trees.resize(n_trees);
            },
            nb::arg("n_trees"))
        .def("append", &append_arrays, nb::arg("arrays"))
        .def("arrays", &arrays_of, nb::arg("number"))
        .def("add_margins", &add_to_margins, nb::arg("X"), nb::arg("first"), nb::arg("last"),
             nb::arg("n_threads"), nb::arg("out"))
        .def("leaves", &leaves_of, nb::arg("number"), nb::arg("X"));

    m.def("margins_to_probabilities", &to_probabilities, nb::arg("loss"), nb::arg("margins"),
          nb::arg("n_threads"), nb::arg("out"));
}

}  // namespace ramify::bindings
