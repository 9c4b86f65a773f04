// Binds core/gradient_boosting/plan: what boosters on any device learn from.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <string>

#include "boosting.hpp"
#include "gradient_boosting/plan.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

using Arrays = nb::typed<nb::dict, nb::str, nb::object>;

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

namespace {

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

/// What a plan is made of besides X, checked.
struct PlanInput {
    OutputSets outputs;
    RowRoles roles;
    std::span<const double> output_weight;
};

PlanInput check_input(std::size_t n_rows, const LabelRows& outputs,
                      const Vector<std::int64_t>& learning, const Vector<std::int64_t>& held_out,
                      const Vector<double>& row_weight, const Vector<double>& output_weight) {
    const auto n_outputs = output_weight.size();
    require(n_outputs > 0, "there must be an output");
    require(outputs.n_labels() == n_outputs, "output_weight must have one weight per output");
    require(outputs.n_rows() == n_rows, "outputs and X must have the same number of rows");
    require(row_weight.size() == n_rows, "row_weight must have one weight per row");
    check_weights(view(row_weight), view(output_weight));
    RowRoles roles{check_rows(view(learning), n_rows), check_rows(view(held_out), n_rows), {}};
    require(!roles.learning.empty(), "there must be a row to learn from");
    for (const double weight : view(row_weight)) {
        roles.weight.push_back(static_cast<float>(weight));
    }
    const auto sets = outputs.sorted();
    return {{sets.indptr, sets.indices, n_outputs}, std::move(roles), view(output_weight)};
}

void make_plan(BoostingPlan* self, const Columns& X, const Vector<std::int32_t>& n_categories,
               const LabelRows& outputs, const Vector<std::int64_t>& learning,
               const Vector<std::int64_t>& held_out, const Vector<double>& row_weight,
               const Vector<double>& output_weight, std::size_t max_bins,
               const GradientBoostingOptions& options) {
    check_options(options, max_bins);
    const auto conversion = conversion_of(X, n_categories, false, options.n_threads);
    auto input = check_input(X.n_rows(), outputs, learning, held_out, row_weight, output_weight);
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        auto binned = X.visit([&](const auto& columns) {
            return BinnedData::from(columns, conversion, input.roles.learning, input.roles.weight,
                                    max_bins, signal);
        });
        new (self) BoostingPlan(std::move(binned), input.outputs, std::move(input.roles),
                                input.output_weight, options);
    });
}

// ---- what other devices need -------------------------------------------------------------------

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutBits = nb::ndarray<std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sets = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Writes the bins of all rows in features `first` to `first + out.shape[0] - 1`.
void copy_bins(const BoostingPlan& plan, std::size_t first, const Bytes& out) {
    require(first + out.shape(0) <= plan.n_features() && out.shape(1) == plan.n_rows(),
            "out must have a row per feature and a column per row");
    const Unlocked unlocked;
    for (std::size_t i = 0; i < out.shape(0); ++i) {
        const auto& feature = plan.data().features[first + i];
        auto* to = out.data() + i * plan.n_rows();
        if (!feature.is_sparse()) {
            std::ranges::copy(feature.bins, to);
            continue;
        }
        for (std::size_t row = 0; row < plan.n_rows(); ++row) {
            to[row] = plan.data().bin(first + i, row);
        }
    }
}

/// Sets the bits of the outputs that each row has, by place.
void copy_bits(const BoostingPlan& plan, const OutBits& out) {
    require(out.shape(0) == plan.n_rows() && 32 * out.shape(1) >= plan.stride(),
            "out must have a row per row and a bit per place");
    const Unlocked unlocked;
    std::fill_n(out.data(), out.size(), 0U);
    for (std::size_t row = 0; row < plan.n_rows(); ++row) {
        auto* words = out.data() + row * out.shape(1);
        for (const auto k : plan.places().of(row)) {
            const auto place = static_cast<std::size_t>(k);
            words[place / 32] |= std::uint32_t{1} << (place % 32);
        }
    }
}

Arrays describe_features(const BoostingPlan& plan) {
    std::vector<std::int32_t> n_bins;
    std::vector<std::uint8_t> is_nominal;
    std::vector<std::int32_t> zero_bin;  // sparse features; others have -1
    for (const auto& feature : plan.data().features) {
        n_bins.push_back(feature.n_bins);
        is_nominal.push_back(feature.nominal ? 1 : 0);
        zero_bin.push_back(feature.is_sparse() ? feature.zero_bin : -1);
    }
    nb::dict arrays;
    arrays["n_bins"] = to_numpy(std::move(n_bins));
    arrays["is_nominal"] = to_numpy(std::move(is_nominal));
    arrays["zero_bin"] = to_numpy(std::move(zero_bin));
    return Arrays(arrays);
}

Arrays draw(const BoostingPlan& plan, std::uint64_t round) {
    auto sample = plan.draw(round);
    nb::dict arrays;
    arrays["rows"] = to_numpy(std::move(sample.rows));
    arrays["features"] = to_numpy(std::move(sample.features));
    arrays["factor"] =
        to_numpy(std::vector<float>(sample.sketch.factor().begin(), sample.sketch.factor().end()));
    arrays["shift"] = to_numpy(
        std::vector<std::int32_t>(sample.sketch.shift().begin(), sample.sketch.shift().end()));
    return Arrays(arrays);
}

/// The best test of a feature from its histogram: its gain, the last bin of the first branch if it
/// is numeric, and the bins of that branch as four words. A gain of 0: none.
nb::typed<nb::tuple, double, std::size_t, nb::object> search(
    const BoostingPlan& plan, std::int32_t number, const Floats& sums,
    const Vector<std::uint32_t>& rows, const Vector<double>& weights,
    const Vector<float>& total_sums, std::uint32_t total_rows, double total_weight) {
    require(number >= 0 && static_cast<std::size_t>(number) < plan.n_features(),
            "there is no such feature");
    const auto& feature = plan.data().features[static_cast<std::size_t>(number)];
    const auto n_bins = feature.n_bins + std::size_t{1};
    const auto width = plan.sketch_width();
    require(sums.shape(0) == n_bins && sums.shape(1) == width && rows.size() == n_bins &&
                weights.size() == n_bins && total_sums.size() == width,
            "a histogram must have a row per bin and a column per number of the sketch");
    const auto& options = plan.options();
    SplitFinder finder({options.min_samples_leaf, options.l2_regularization, width});
    BinSplit best;
    finder.search(feature, number, {sums.data(), rows.data(), weights.data()},
                  {total_sums.data(), total_rows, total_weight}, best);
    const auto& words = best.yes.words;
    return nb::typed<nb::tuple, double, std::size_t, nb::object>(nb::make_tuple(
        best.gain, best.cut, to_numpy(std::vector<std::uint64_t>(words.begin(), words.end()))));
}

/// The parts of a grown tree, node by node.
struct NodeArrays {
    const Vector<std::int32_t>& feature;
    const Vector<double>& gain;
    const Vector<std::int32_t>& cut;
    const Sets& sets;
    const Vector<std::int32_t>& yes;
    const Vector<std::int32_t>& no;
    const Vector<double>& weight;
    const Vector<std::int32_t>& leaf;
};

std::vector<GrownNode> read_nodes(const NodeArrays& arrays, std::size_t n_features,
                                  std::size_t n_leaves) {
    const auto n = arrays.feature.size();
    require(n > 0 && arrays.gain.size() == n && arrays.cut.size() == n &&
                arrays.sets.shape(0) == n && arrays.sets.shape(1) == 4 && arrays.yes.size() == n &&
                arrays.no.size() == n && arrays.weight.size() == n && arrays.leaf.size() == n,
            "the arrays of a tree must have one cell per node");
    std::vector<GrownNode> nodes(n);
    const auto is_child = [&](std::int32_t child, std::size_t parent) {
        return child > static_cast<std::int64_t>(parent) && child < static_cast<std::int64_t>(n);
    };
    for (std::size_t i = 0; i < n; ++i) {
        auto& node = nodes[i];
        node.weight = arrays.weight.data()[i];
        const auto feature = arrays.feature.data()[i];
        if (feature < 0) {
            const auto leaf = arrays.leaf.data()[i];
            require(leaf >= 0 && static_cast<std::size_t>(leaf) < n_leaves,
                    "a leaf must have a number among the leaves");
            continue;
        }
        require(static_cast<std::size_t>(feature) < n_features,
                "a tree tests a feature that does not exist");
        node.yes = arrays.yes.data()[i];
        node.no = arrays.no.data()[i];
        require(is_child(node.yes, i) && is_child(node.no, i) && node.yes != node.no,
                "children must come after their parents");
        require(arrays.cut.data()[i] >= 0, "cut must not be negative");
        node.split.feature = feature;
        node.split.gain = arrays.gain.data()[i];
        node.split.cut = static_cast<std::size_t>(arrays.cut.data()[i]);
        std::copy_n(arrays.sets.data() + 4 * i, 4, node.split.yes.words.begin());
    }
    return nodes;
}

void append_grown(const BoostingPlan& plan, BoostedTrees& model,
                  const Vector<std::int32_t>& feature, const Vector<double>& gain,
                  const Vector<std::int32_t>& cut, const Sets& sets,
                  const Vector<std::int32_t>& yes, const Vector<std::int32_t>& no,
                  const Vector<double>& weight, const Vector<std::int32_t>& leaf,
                  const Floats& values) {
    require(model.n_outputs == plan.n_outputs() && model.n_features == plan.n_features(),
            "the model must have the features and outputs of the plan");
    require(values.shape(1) == plan.stride(), "values must have a column per place");
    const auto nodes = read_nodes({feature, gain, cut, sets, yes, no, weight, leaf},
                                  plan.n_features(), values.shape(0));
    append_tree(model, plan.describe(nodes, view(leaf), {values.data(), values.size()}));
}

}  // namespace

void init_boosting_plan(nb::module_& m) {
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

    nb::class_<BoostingPlan>(m, "BoostingPlan",
                             "Bins, outputs, roles and random draws of gradient boosting.")
        .def("__init__", &make_plan, nb::arg("X"), nb::arg("n_categories"), nb::arg("outputs"),
             nb::arg("learning"), nb::arg("held_out"), nb::arg("row_weight"),
             nb::arg("output_weight"), nb::arg("max_bins"), nb::arg("options"))
        .def_prop_ro("n_rows", &BoostingPlan::n_rows)
        .def_prop_ro("n_features", &BoostingPlan::n_features)
        .def_prop_ro("n_outputs", &BoostingPlan::n_outputs)
        .def_prop_ro("stride", &BoostingPlan::stride)
        .def_prop_ro("sketch_width", &BoostingPlan::sketch_width)
        .def_prop_ro("n_shared", &BoostingPlan::n_shared)
        .def_prop_ro("options", &BoostingPlan::options)
        .def("order",
             [](const BoostingPlan& plan) {
                 return to_numpy(
                     std::vector<std::int32_t>(plan.order().begin(), plan.order().end()));
             })
        .def("weights",
             [](const BoostingPlan& plan) { return to_numpy(std::vector(plan.roles().weight)); })
        .def(
            "rows",
            [](const BoostingPlan& plan, bool held_out) {
                return to_numpy(
                    std::vector(held_out ? plan.roles().held_out : plan.roles().learning));
            },
            nb::arg("held_out"))
        .def("features", &describe_features)
        .def("copy_bins", &copy_bins, nb::arg("first"), nb::arg("out"))
        .def("copy_bits", &copy_bits, nb::arg("out"))
        .def("draw", &draw, nb::arg("round"))
        .def("search", &search, nb::arg("feature"), nb::arg("sums"), nb::arg("rows"),
             nb::arg("weights"), nb::arg("total_sums"), nb::arg("total_rows"),
             nb::arg("total_weight"))
        .def("append_grown", &append_grown, nb::arg("model"), nb::arg("feature"), nb::arg("gain"),
             nb::arg("cut"), nb::arg("sets"), nb::arg("yes"), nb::arg("no"), nb::arg("weight"),
             nb::arg("leaf"), nb::arg("values"));
}

}  // namespace ramify::bindings
