// Binds the parts of core/gradient_boosting that learn from rows in several partitions.
#include <nanobind/stl/array.h>

#include <cmath>

#include "gradient_boosting/edges.hpp"
#include "gradient_boosting/shard.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

/// The bins of the first branch of each node, as bits of four numbers.
using BinSets = nb::ndarray<const std::uint64_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using ConstFloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ConstSums = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using FeatureState = nb::typed<nb::tuple, bool, int, nb::object, nb::object>;

// ---- bins ----------------------------------------------------------------------------------

struct BinEdges {
    std::vector<BinnedFeature> features;
};

BinEdges edges_from(const nb::typed<nb::list, FeatureState>& states) {
    BinEdges edges;
    for (const auto item : states) {
        const auto state = nb::cast<nb::tuple>(item);
        const auto threshold = nb::cast<Vector<double>>(state[2]);
        const auto bins = nb::cast<Vector<std::uint8_t>>(state[3]);
        BinnedFeature feature;
        feature.nominal = nb::cast<bool>(state[0]);
        feature.n_bins = static_cast<std::uint8_t>(nb::cast<int>(state[1]));
        feature.threshold.assign(threshold.data(), threshold.data() + threshold.size());
        feature.bin_of_code.assign(bins.data(), bins.data() + bins.size());
        require(feature.threshold.empty() || feature.threshold.size() + 1 == feature.n_bins,
                "a feature must have one bin more than thresholds");
        for (const auto bin : feature.bin_of_code) {
            require(bin <= feature.n_bins, "codes must have bins of their feature");
        }
        edges.features.push_back(std::move(feature));
    }
    return edges;
}

FeatureState state_of(const BinEdges& edges, std::size_t f) {
    if (f >= edges.features.size()) throw nb::index_error("there is no such feature");
    const auto& feature = edges.features[f];
    return FeatureState(nb::make_tuple(feature.nominal, static_cast<int>(feature.n_bins),
                                       to_numpy(std::vector(feature.threshold)),
                                       to_numpy(std::vector(feature.bin_of_code))));
}

void check_max_bins(std::size_t max_bins) {
    require(max_bins >= 2 && max_bins <= max_bins_of_feature, "max_bins must be from 2 to 255");
}

void add_numeric(BinEdges& edges, const Vector<double>& low, const Vector<double>& high,
                 const Vector<double>& weights, std::size_t max_bins) {
    check_max_bins(max_bins);
    require(low.size() == weights.size() && high.size() == weights.size(),
            "low, high and weights must have the same length");
    edges.features.push_back(bin_intervals(view(low), view(high), view(weights), max_bins));
}

void add_codes(BinEdges& edges, const Vector<double>& weights, std::size_t max_bins) {
    check_max_bins(max_bins);
    edges.features.push_back(bin_codes(view(weights), max_bins));
}

Owned<std::int64_t> bins_of_features(const BinEdges& edges) {
    std::vector<std::int64_t> n_bins;
    for (const auto& feature : edges.features) n_bins.push_back(feature.n_bins);
    return to_numpy(std::move(n_bins));
}

// ---- a partition ---------------------------------------------------------------------------

void make_plan(ShardPlan* self, const Vector<double>& start, const Vector<double>& output_weight,
               const Vector<std::int32_t>& order, const std::array<int, 3>& bits,
               double sampled_share, const GradientBoostingOptions& options) {
    const auto n = start.size();
    require(n > 0 && output_weight.size() == n && order.size() == n,
            "start, output_weight and order must have one number per output");
    require(options.sketch_size >= 1 && options.n_threads >= 1,
            "sketch_size and n_threads must be positive");
    require(sampled_share > 0, "sampled_share must be positive");
    std::vector<bool> seen(n, false);
    for (const auto j : view(order)) {
        require(j >= 0 && static_cast<std::size_t>(j) < n && !seen[static_cast<std::size_t>(j)],
                "order must have every output once");
        seen[static_cast<std::size_t>(j)] = true;
    }
    new (self) ShardPlan{{start.data(), start.data() + n},
                         {output_weight.data(), output_weight.data() + n},
                         {order.data(), order.data() + n},
                         {bits[0], bits[1], bits[2]},
                         sampled_share,
                         options};
}

void make_shard(BoosterShard* self, const Columns& X, const BinEdges& edges,
                const LabelRows& given, const Vector<float>& weight,
                const Vector<std::uint8_t>& held_out, std::uint64_t first_row,
                const ShardPlan& plan) {
    const auto n_rows = X.n_rows();
    require(X.n_columns() == edges.features.size(), "X must have a column per feature");
    require(given.n_labels() == plan.start.size(), "start must have one number per output");
    require(given.n_rows() == n_rows && weight.size() == n_rows && held_out.size() == n_rows,
            "X, outputs, weight and held_out must have the same number of rows");
    for (const float w : view(weight)) {
        require(w >= 0 && std::isfinite(std::ldexp(w, plan.fixed.leaf_bits)) &&
                    std::ldexp(w, plan.fixed.leaf_bits) <= 0x1.0p24F,
                "weights must be finite and fit the fixed point");
    }
    const auto sets = given.sorted();
    const OutputSets outputs{sets.indptr, sets.indices, plan.start.size()};
    std::vector<float> weights(weight.data(), weight.data() + n_rows);
    std::vector<std::uint8_t> held(held_out.data(), held_out.data() + n_rows);
    const Unlocked unlocked;
    auto binned = X.visit([&](const auto& columns) { return bin_rows(columns, edges.features); });
    new (self) BoosterShard(std::move(binned), outputs, std::move(weights), std::move(held),
                            first_row, plan);
}

BinSplit split_of(const BoosterShard& shard, std::int32_t feature, const std::uint64_t* words) {
    require(feature >= 0 && static_cast<std::size_t>(feature) < shard.data().features.size(),
            "a test must have a feature of X");
    BinSplit split;
    split.feature = feature;
    std::copy_n(words, 4, split.yes.words.begin());
    return split;
}

void start_tree(BoosterShard& shard, std::uint64_t round) {
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        shard.start_tree(round, signal);
    });
}

void divide(BoosterShard& shard, const Vector<std::int64_t>& node,
            const Vector<std::int32_t>& feature, const BinSets& words,
            const Vector<std::int64_t>& yes) {
    require(feature.size() == node.size() && words.shape(0) == node.size() &&
                yes.size() == node.size(),
            "all arrays must have one entry per node");
    for (std::size_t i = 0; i < node.size(); ++i) {
        const auto number = static_cast<std::size_t>(node.data()[i]);
        require(
            number < shard.n_nodes() && static_cast<std::size_t>(yes.data()[i]) == shard.n_nodes(),
            "children must follow the nodes that exist");
        shard.divide({number, split_of(shard, feature.data()[i], words.data() + 4 * i),
                      static_cast<std::size_t>(yes.data()[i])});
    }
}

void check_nodes(const BoosterShard& shard, const Vector<std::int64_t>& nodes) {
    for (const auto node : view(nodes)) {
        require(node >= 0 && static_cast<std::size_t>(node) < shard.n_nodes(),
                "there is no such node");
    }
}

void add_histograms(const BoosterShard& shard, const Vector<std::int64_t>& nodes,
                    const Vector<std::int32_t>& features, const Sums& out) {
    check_nodes(shard, nodes);
    std::size_t n_bins = 0;
    for (const auto f : view(features)) {
        require(f >= 0 && static_cast<std::size_t>(f) < shard.data().features.size(),
                "there is no such feature");
        n_bins += shard.data().features[static_cast<std::size_t>(f)].n_bins + 1U;
    }
    require(out.shape(0) == nodes.size() && out.shape(1) == n_bins &&
                out.shape(2) == numbers_per_bin(shard.width()),
            "out must have the shape (nodes, bins, width + 2)");
    const auto each = out.shape(1) * out.shape(2);
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            shard.add_histograms(static_cast<std::size_t>(nodes.data()[i]), view(features),
                                 {out.data() + i * each, each}, signal);
        }
    });
}

void add_leaf_sums(const BoosterShard& shard, const Vector<std::int64_t>& nodes, const Sums& out) {
    check_nodes(shard, nodes);
    require(
        out.shape(0) == nodes.size() && out.shape(1) == 2 && out.shape(2) == shard.n_outputs() + 1,
        "out must have the shape (nodes, 2, n_outputs + 1)");
    const auto each = out.shape(1) * out.shape(2);
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            shard.add_leaf_sums(static_cast<std::size_t>(nodes.data()[i]),
                                {out.data() + i * each, each}, signal);
        }
    });
}

void add_tree(BoosterShard& shard, const Vector<std::int32_t>& feature, const BinSets& words,
              const Vector<std::int32_t>& yes, const Vector<std::int32_t>& leaf,
              const ConstFloatMatrix& value) {
    const auto n = feature.size();
    require(n > 0 && words.shape(0) == n && yes.size() == n && leaf.size() == n,
            "all arrays must have one entry per node");
    require(value.shape(1) == shard.n_outputs(), "value must have a column per output");
    BinnedTree tree;
    for (std::size_t i = 0; i < n; ++i) {
        if (feature.data()[i] < 0) {
            require(
                leaf.data()[i] >= 0 && static_cast<std::size_t>(leaf.data()[i]) < value.shape(0),
                "a leaf must have a row of value");
            tree.split.emplace_back();
        } else {
            require(yes.data()[i] > static_cast<std::int64_t>(i) &&
                        static_cast<std::size_t>(yes.data()[i]) + 1 < n,
                    "children must come after their parents");
            tree.split.push_back(split_of(shard, feature.data()[i], words.data() + 4 * i));
        }
    }
    tree.yes.assign(yes.data(), yes.data() + n);
    tree.leaf.assign(leaf.data(), leaf.data() + n);
    tree.value.assign(value.data(), value.data() + value.size());
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        shard.add_tree(tree, signal);
    });
}

std::array<std::int64_t, 3> loss_of_shard(const BoosterShard& shard, bool held_out) {
    return stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        return shard.loss(held_out, signal);
    });
}

// ---- the coordinator -----------------------------------------------------------------------

nb::typed<nb::dict, nb::str, nb::object> find_splits(
    const BinEdges& edges, const Vector<std::int32_t>& features, const ConstSums& histograms,
    const std::array<int, 3>& bits, std::size_t min_samples_leaf, double l2_regularization,
    unsigned n_threads) {
    std::size_t n_bins = 0;
    for (const auto f : view(features)) {
        require(f >= 0 && static_cast<std::size_t>(f) < edges.features.size(),
                "there is no such feature");
        n_bins += edges.features[static_cast<std::size_t>(f)].n_bins + 1U;
    }
    require(histograms.shape(1) == n_bins && histograms.shape(2) > 2 && n_threads >= 1,
            "histograms must have the shape (nodes, bins, width + 2)");
    const CutRules rules{min_samples_leaf, l2_regularization, histograms.shape(2) - 2};
    const auto n = histograms.shape(0);
    std::vector<FoundSplit> found(n);
    stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        const auto each = histograms.shape(1) * histograms.shape(2);
        for (std::size_t i = 0; i < n; ++i) {
            found[i] = find_exact_split(edges.features, view(features),
                                        {histograms.data() + i * each, each},
                                        {bits[0], bits[1], bits[2]}, rules, n_threads, signal);
        }
    });
    std::vector<std::int32_t> feature;
    std::vector<double> gain;
    std::vector<std::int64_t> cut;
    std::vector<std::uint64_t> words;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> rows_yes;
    for (const auto& one : found) {
        feature.push_back(one.split.feature);
        gain.push_back(one.split.gain);
        cut.push_back(static_cast<std::int64_t>(one.split.cut));
        words.insert(words.end(), one.split.yes.words.begin(), one.split.yes.words.end());
        rows.push_back(one.rows);
        rows_yes.push_back(one.rows_yes);
    }
    nb::dict arrays;
    arrays["feature"] = to_numpy(std::move(feature));
    arrays["gain"] = to_numpy(std::move(gain));
    arrays["cut"] = to_numpy(std::move(cut));
    arrays["words"] = to_numpy(std::move(words));
    arrays["rows"] = to_numpy(std::move(rows));
    arrays["rows_yes"] = to_numpy(std::move(rows_yes));
    return nb::typed<nb::dict, nb::str, nb::object>(arrays);
}

Owned<std::int32_t> choose_features(const Vector<std::int32_t>& usable, std::size_t n_features,
                                    std::uint64_t seed, std::uint64_t round) {
    return to_numpy(choose(view(usable), n_features, RoundSeeds::of(seed, round).features));
}

Owned<std::uint8_t> draw_rows(std::uint64_t first_row, std::size_t n_rows, std::uint64_t seed,
                              double share) {
    const RowDraw draw(mix(seed), share);
    std::vector<std::uint8_t> drawn(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) drawn[row] = draw.has(first_row + row) ? 1 : 0;
    return to_numpy(std::move(drawn));
}

}  // namespace

void init_boosting_shards(nb::module_& m) {
    nb::class_<BinEdges>(m, "BinEdges", "The bins of all features of a boosted model.")
        .def(
            "__init__",
            [](BinEdges* self, const nb::typed<nb::list, FeatureState>& states) {
                new (self) BinEdges(edges_from(states));
            },
            nb::arg("states") = nb::list())
        .def("__reduce__",
             [](nb::handle_t<BinEdges> self) {
                 const auto& edges = nb::cast<const BinEdges&>(self);
                 nb::list states;
                 for (std::size_t f = 0; f < edges.features.size(); ++f) {
                     states.append(state_of(edges, f));
                 }
                 return nb::typed<nb::tuple, nb::object, nb::object>(
                     nb::make_tuple(self.type(), nb::make_tuple(std::move(states))));
             })
        .def("__len__", [](const BinEdges& edges) { return edges.features.size(); })
        .def("add_numeric", &add_numeric, nb::arg("low"), nb::arg("high"), nb::arg("weights"),
             nb::arg("max_bins"))
        .def("add_codes", &add_codes, nb::arg("weights"), nb::arg("max_bins"))
        .def("state", &state_of, nb::arg("feature"),
             "Whether the feature is nominal, its bins, thresholds and bins of codes.")
        .def("n_bins", &bins_of_features);

    nb::class_<ShardPlan>(m, "ShardPlan", "What the partitions of a boosted model have in common.")
        .def("__init__", &make_plan, nb::arg("start"), nb::arg("output_weight"), nb::arg("order"),
             nb::arg("bits"), nb::arg("sampled_share"), nb::arg("options"));

    nb::class_<BoosterShard>(m, "BoosterShard", "One partition of the rows of a boosted model.")
        .def("__init__", &make_shard, nb::arg("X"), nb::arg("edges"), nb::arg("outputs"),
             nb::arg("weight"), nb::arg("held_out"), nb::arg("first_row"), nb::arg("plan"))
        .def_prop_ro("width", &BoosterShard::width)
        .def("start_tree", &start_tree, nb::arg("round"))
        .def("divide", &divide, nb::arg("node"), nb::arg("feature"), nb::arg("words"),
             nb::arg("yes"))
        .def("add_histograms", &add_histograms, nb::arg("nodes"), nb::arg("features"),
             nb::arg("out"))
        .def("add_leaf_sums", &add_leaf_sums, nb::arg("nodes"), nb::arg("out"))
        .def("add_tree", &add_tree, nb::arg("feature"), nb::arg("words"), nb::arg("yes"),
             nb::arg("leaf"), nb::arg("value"))
        .def("loss", &loss_of_shard, nb::arg("held_out"));

    m.def("find_exact_splits", &find_splits, nb::arg("edges"), nb::arg("features"),
          nb::arg("histograms"), nb::arg("bits"), nb::arg("min_samples_leaf"),
          nb::arg("l2_regularization"), nb::arg("n_threads"));
    m.def("choose_features", &choose_features, nb::arg("usable"), nb::arg("n_features"),
          nb::arg("seed"), nb::arg("round"));
    m.def("draw_rows", &draw_rows, nb::arg("first_row"), nb::arg("n_rows"), nb::arg("seed"),
          nb::arg("share"));
}

}  // namespace ramify::bindings
