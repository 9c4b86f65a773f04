// Binds core/gradient_boosting: a booster that learns tree by tree, and the trees of a model.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "gradient_boosting/booster.hpp"
#include "gradient_boosting/predicting.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Arrays = nb::typed<nb::dict, nb::str, nb::object>;
using FloatMatrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstFloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Loss loss_of(const std::string& name) {
    require(name == "logistic" || name == "softmax", "loss must be 'logistic' or 'softmax'");
    return name == "logistic" ? Loss::logistic : Loss::softmax;
}

// ---- learning ------------------------------------------------------------------------------

std::vector<std::uint32_t> check_rows(std::span<const std::int64_t> rows, std::size_t n_rows) {
    std::vector<std::uint32_t> checked;
    checked.reserve(rows.size());
    for (const auto row : rows) {
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows, "rows must lie within X");
        require(checked.empty() || checked.back() < row, "rows must increase");
        checked.push_back(static_cast<std::uint32_t>(row));
    }
    return checked;
}

void check_options(const GradientBoostingOptions& options, std::size_t max_bins) {
    require(options.learning_rate > 0 && std::isfinite(options.learning_rate),
            "learning_rate must be positive and finite");
    require(options.l2_regularization >= 0 && std::isfinite(options.l2_regularization),
            "l2_regularization must be finite and not negative");
    require(options.min_samples_leaf >= 1, "min_samples_leaf must be positive");
    require(options.sketch_size >= 1, "sketch_size must be positive");
    require(options.n_threads >= 1, "n_threads must be positive");
    require(max_bins >= 2 && max_bins <= max_bins_of_feature, "max_bins must be from 2 to 255");
}

/// Squared sums of weighted gradients must fit single precision.
void check_weights(std::span<const double> row_weight, std::span<const double> output_weight) {
    double sum_rows = 0;
    double sum_outputs = 0;
    for (const double weight : row_weight) {
        require(weight >= 0 && std::isfinite(weight), "weights must be finite and not negative");
        sum_rows += weight;
    }
    for (const double weight : output_weight) {
        require(weight >= 0 && std::isfinite(weight), "weights must be finite and not negative");
        sum_outputs += weight;
    }
    require(sum_rows <= 1e15 && sum_rows * sum_rows * sum_outputs <= 1e37,
            "weights must not sum to more than 1e15");
}

void make_booster(GradientBooster* self, const Dataset& dataset,
                  const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                  const Vector<std::int64_t>& learning, const Vector<std::int64_t>& held_out,
                  const Vector<double>& row_weight, const Vector<double>& start,
                  const Vector<double>& output_weight, std::size_t max_bins,
                  const GradientBoostingOptions& options) {
    check_options(options, max_bins);
    require(start.size() > 0 && output_weight.size() == start.size(),
            "start and output_weight must have one number per output");
    check_compressed(view(indptr), view(indices), start.size());
    require(indptr.size() == dataset.n_rows + 1,
            "outputs and X must have the same number of rows");
    require(row_weight.size() == dataset.n_rows, "row_weight must have one weight per row");
    for (const double margin : view(start)) {
        require(std::isfinite(static_cast<float>(margin)), "start must be finite");
    }
    check_weights(view(row_weight), view(output_weight));
    RowRoles roles{check_rows(view(learning), dataset.n_rows),
                   check_rows(view(held_out), dataset.n_rows),
                   {}};
    require(!roles.learning.empty(), "there must be a row to learn from");
    for (const double weight : view(row_weight)) {
        roles.weight.push_back(static_cast<float>(weight));
    }
    const Unlocked unlocked;
    auto binned = BinnedData::from(dataset, roles.learning, max_bins);
    new (self) GradientBooster(std::move(binned), {view(indptr), view(indices), start.size()},
                               std::move(roles), view(start), view(output_weight), options);
}

double loss_of_rows(const GradientBooster& booster, bool held_out) {
    return stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        return booster.loss(held_out, signal);
    });
}

void copy_margins(const GradientBooster& booster, const Vector<std::int64_t>& rows,
                  const FloatMatrix& out) {
    const auto checked = check_rows(view(rows), booster.n_rows());
    require(out.shape(0) == rows.size() && out.shape(1) == booster.n_outputs(),
            "out must have a row per row and a column per output");
    const Unlocked unlocked;
    booster.copy_margins(checked, {out.data(), out.size()});
}

void add_margins(GradientBooster& booster, const ConstFloatMatrix& margins) {
    require(margins.shape(0) == booster.n_rows() && margins.shape(1) == booster.n_outputs(),
            "margins must have a row per row and a column per output");
    const Unlocked unlocked;
    booster.add_margins({margins.data(), margins.size()});
}

// ---- trees ---------------------------------------------------------------------------------

template <typename T>
std::vector<T> vector_of(const Arrays& arrays, const char* name) {
    const auto array = nb::cast<Vector<T>>(arrays[name]);
    return {array.data(), array.data() + array.size()};
}

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

void append(BoostedTrees& model, BoostedTree tree) {
    check_tree(tree, model.n_features, model.n_outputs);
    model.trees.push_back(std::move(tree));
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
    append(model, std::move(tree));
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

void learn(GradientBooster& booster, BoostedTrees& model) {
    require(model.n_outputs == booster.n_outputs() && model.n_features == booster.n_features(),
            "the model must have the features and outputs of the booster");
    auto tree = stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        return booster.learn(signal);
    });
    append(model, std::move(tree));
}

template <typename Rows>
void add_values(const BoostedTrees& model, const Rows& rows, std::size_t first, std::size_t last,
                unsigned n_threads, const FloatMatrix& out) {
    require(first <= last && last <= model.trees.size(), "the range of trees is not valid");
    require(out.shape(0) == rows.n_rows() && out.shape(1) == model.n_outputs,
            "out must have a row per row and a column per output");
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        add_boosted_margins(model, first, last, rows, std::max(1U, n_threads), signal,
                            {out.data(), out.size()});
    });
}

template <typename T>
void add_to_margins(const BoostedTrees& model, const Matrix<T>& X, std::size_t first,
                    std::size_t last, unsigned n_threads, const FloatMatrix& out) {
    require(X.shape(1) == model.n_features, "X must have a column per feature");
    add_values(model, DenseRows<T>(matrix_view(X)), first, last, n_threads, out);
}

void add_to_margins_csr(const BoostedTrees& model, const Vector<std::int64_t>& indptr,
                        const Vector<std::int32_t>& indices, const Vector<double>& data,
                        std::size_t n_columns, std::size_t first, std::size_t last,
                        unsigned n_threads, const FloatMatrix& out) {
    require(n_columns == model.n_features, "X must have a column per feature");
    add_values(model, sparse_cells(indptr, indices, data, n_columns), first, last, n_threads, out);
}

template <typename T>
Owned<std::int32_t> leaves_of(const BoostedTrees& model, std::size_t number, const Matrix<T>& X) {
    require(X.shape(1) == model.n_features, "X must have a column per feature");
    std::vector<std::int32_t> leaf(X.shape(0));
    find_boosted_leaves(tree_at(model, number), DenseRows<T>(matrix_view(X)), leaf);
    return to_numpy(std::move(leaf));
}

Owned<std::int32_t> leaves_of_csr(const BoostedTrees& model, std::size_t number,
                                  const Vector<std::int64_t>& indptr,
                                  const Vector<std::int32_t>& indices, const Vector<double>& data,
                                  std::size_t n_columns) {
    require(n_columns == model.n_features, "X must have a column per feature");
    std::vector<std::int32_t> leaf(indptr.size() - 1);
    find_boosted_leaves(tree_at(model, number), sparse_cells(indptr, indices, data, n_columns),
                        leaf);
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

void init_gradient_boosting(nb::module_& m) {
    using Options = GradientBoostingOptions;
    nb::class_<Options>(m, "GradientBoostingOptions", "Options of a GradientBooster.")
        .def(nb::init<>())
        .def_prop_rw(
            "loss",
            [](const Options& options) {
                return std::string(options.loss == Loss::logistic ? "logistic" : "softmax");
            },
            [](Options& options, const std::string& loss) { options.loss = loss_of(loss); })
        .def_rw("learning_rate", &Options::learning_rate)
        .def_rw("max_depth", &Options::max_depth)
        .def_rw("max_leaf_nodes", &Options::max_leaf_nodes)
        .def_rw("min_samples_leaf", &Options::min_samples_leaf)
        .def_rw("l2_regularization", &Options::l2_regularization)
        .def_rw("n_sampled_rows", &Options::n_sampled_rows)
        .def_rw("n_sampled_features", &Options::n_sampled_features)
        .def_rw("sketch_size", &Options::sketch_size)
        .def_rw("seed", &Options::seed)
        .def_rw("first_round", &Options::first_round)
        .def_rw("n_threads", &Options::n_threads);

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
        .def("add_margins", &add_to_margins<double>, nb::arg("X"), nb::arg("first"),
             nb::arg("last"), nb::arg("n_threads"), nb::arg("out"))
        .def("add_margins", &add_to_margins<float>, nb::arg("X"), nb::arg("first"),
             nb::arg("last"), nb::arg("n_threads"), nb::arg("out"))
        .def("add_margins_csr", &add_to_margins_csr, nb::arg("indptr"), nb::arg("indices"),
             nb::arg("data"), nb::arg("n_columns"), nb::arg("first"), nb::arg("last"),
             nb::arg("n_threads"), nb::arg("out"))
        .def("leaves", &leaves_of<double>, nb::arg("number"), nb::arg("X"))
        .def("leaves", &leaves_of<float>, nb::arg("number"), nb::arg("X"))
        .def("leaves_csr", &leaves_of_csr, nb::arg("number"), nb::arg("indptr"),
             nb::arg("indices"), nb::arg("data"), nb::arg("n_columns"));

    nb::class_<GradientBooster>(m, "GradientBooster", "Learns boosted trees, one per round.")
        .def("__init__", &make_booster, nb::arg("dataset"), nb::arg("indptr"), nb::arg("indices"),
             nb::arg("learning"), nb::arg("held_out"), nb::arg("row_weight"), nb::arg("start"),
             nb::arg("output_weight"), nb::arg("max_bins"), nb::arg("options"))
        .def("learn", &learn, nb::arg("model"), "Append one tree to the model.")
        .def("loss", &loss_of_rows, nb::arg("held_out"))
        .def("copy_margins", &copy_margins, nb::arg("rows"), nb::arg("out"))
        .def("add_margins", &add_margins, nb::arg("margins"));

    m.def("margins_to_probabilities", &to_probabilities, nb::arg("loss"), nb::arg("margins"),
          nb::arg("n_threads"), nb::arg("out"));
}

}  // namespace ramify::bindings
