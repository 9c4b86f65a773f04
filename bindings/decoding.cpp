// Binds core/decoding: label sets that end in leaves.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "decoding/best_sets.hpp"
#include "decoding/climbing.hpp"
#include "decoding/decode.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

LeafGraph graph_of(const LabelRows& parents) {
    require(parents.n_labels() > 0, "there must be at least one label");
    parents.sorted();
    return LeafGraph(parents.parents());
}

Values values_of(const std::string& name) {
    if (name == "weights") return Values::weights;
    if (name == "marginals") return Values::marginals;
    if (name == "conditionals") return Values::conditionals;
    require(name == "risk", "values must be weights, marginals, conditionals or risk");
    return Values::risk;
}

/// Sums of such numbers and of their products stay finite, so that gains can be compared.
bool are_moderate(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(),
                       [](double x) { return std::abs(x) <= 1e100; });
}

void check_scores(const Scores& rows, const LeafGraph& graph, Values values,
                  const Vector<double>& slope, const Vector<double>& offset) {
    require(rows.shape(1) == row_width(graph, values), "rows must have a number per label");
    require(are_moderate({rows.data(), rows.size()}) && are_moderate(view(slope)) &&
                are_moderate(view(offset)),
            "numbers must lie between -1e100 and 1e100");
    if (values != Values::risk) return;
    require(slope.size() == graph.n_labels() && offset.size() == graph.n_labels(),
            "slope and offset must have a number per label");
}

std::pair<Owned<std::int64_t>, Owned<std::int32_t>> decoded(
    const Scores& rows, const LabelRows& parents, const std::string& values,
    const Vector<double>& slope, const Vector<double>& offset, const Vector<std::int32_t>& k,
    bool exact, unsigned n_threads) {
    const LeafGraph graph = graph_of(parents);
    const DecodingPlan plan{{rows.data(), rows.size()},
                            values_of(values),
                            view(slope),
                            view(offset),
                            view(k),
                            exact ? Solver::exact : Solver::greedy};
    check_scores(rows, graph, plan.values, slope, offset);
    require(!exact || graph.is_tree(), "the exact solver needs a tree");
    require(k.size() == rows.shape(0), "k must have a number per row");
    for (const std::int32_t wanted : plan.k) {
        require(wanted >= 0 && static_cast<std::size_t>(wanted) <= graph.n_leaves(),
                "k must lie between 0 and the number of leaves");
    }
    auto sets = stoppable(
        [&] { return decode(graph, plan, std::max(1u, n_threads), interrupted_by(nullptr)); });
    return {to_numpy(std::move(sets.indptr)), to_numpy(std::move(sets.indices))};
}

void write_weights(const Scores& rows, const LabelRows& parents, const std::string& values,
                   const Vector<double>& slope, const Vector<double>& offset,
                   const OutMatrix& out) {
    const LeafGraph graph = graph_of(parents);
    const Values kind = values_of(values);
    check_scores(rows, graph, kind, slope, offset);
    require(out.shape(0) == rows.shape(0) && out.shape(1) == graph.n_labels(),
            "out must have a number per row and label");
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        WeightMaker make_weights(graph, kind, view(slope), view(offset));
        for (std::size_t first = 0; first < rows.shape(0); first += abreast) {
            signal.check();
            const std::size_t n_rows = std::min(abreast, rows.shape(0) - first);
            const auto weights =
                make_weights({rows.data() + first * rows.shape(1), n_rows * rows.shape(1)});
            for (std::size_t t = 0; t < n_rows; ++t) {
                double* row = out.data() + (first + t) * graph.n_labels();
                for (std::size_t i = 0; i < graph.n_labels(); ++i)
                    row[i] = weights[i * abreast + t];
            }
        }
    });
}

SparseRowsView ordered_parents(const LabelRows& parents, std::size_t n_columns) {
    require(parents.n_labels() > 0, "there must be at least one label");
    require(parents.n_labels() == n_columns, "rows must have a number per label");
    parents.sorted();
    return parents.parents();
}

/// work(rows), where rows are ScoreRows.
template <typename Work>
auto with_scores(const Rows& rows, Work work) {
    return rows.visit_doubles([&](const auto& X) {
        if constexpr (std::is_same_v<std::decay_t<decltype(X)>, CsrView>) {
            return work(ScoreRows{{}, &X});
        } else {
            // The strides of a single row or column have no meaning.
            const bool by_columns = X.n_columns > 1 && X.column_stride != 1;
            const bool apart =
                X.n_rows > 1 && X.row_stride != static_cast<std::ptrdiff_t>(X.n_columns);
            require(X.n_rows == 0 || !(by_columns || apart), "rows must lie one after the other");
            return work(ScoreRows{{X.data, X.n_rows * X.n_columns}, nullptr});
        }
    });
}

std::pair<Owned<std::int64_t>, Owned<std::int32_t>> best_sets(const Rows& rows,
                                                              const LabelRows& parents,
                                                              bool may_be_empty,
                                                              unsigned n_threads) {
    const auto edges = ordered_parents(parents, rows.n_columns());
    StopSignal signal(interrupted_by(nullptr));
    auto sets = with_scores(rows, [&](const ScoreRows& scores) {
        return stoppable([&] {
            return best_label_sets(scores, edges, may_be_empty, std::max(1u, n_threads), signal);
        });
    });
    return {to_numpy(std::move(sets.indptr)), to_numpy(std::move(sets.indices))};
}

Owned<std::int32_t> best_path_ends(const Rows& rows, const LabelRows& parents,
                                   const Vector<std::uint8_t>& ends, unsigned n_threads) {
    const auto edges = ordered_parents(parents, rows.n_columns());
    require(ends.size() == parents.n_labels(), "ends must have a number per label");
    std::vector<std::int32_t> chosen(rows.n_rows());
    StopSignal signal(interrupted_by(nullptr));
    with_scores(rows, [&](const ScoreRows& scores) {
        stoppable([&] {
            best_ends(scores, edges, view(ends), std::max(1u, n_threads), signal, chosen);
        });
    });
    return to_numpy(std::move(chosen));
}

std::pair<Owned<std::int64_t>, Owned<double>> climbed(const Scores& rows, const LabelRows& parents,
                                                      const Vector<std::uint8_t>& ends) {
    const auto edges = ordered_parents(parents, rows.shape(1));
    require(ends.size() == parents.n_labels(), "ends must have a number per label");
    StopSignal signal(interrupted_by(nullptr));
    auto found =
        stoppable([&] { return climb({rows.data(), rows.size()}, edges, view(ends), signal); });
    return {to_numpy(std::move(found.labels)), to_numpy(std::move(found.values))};
}

}  // namespace

void init_decoding(nb::module_& m) {
    m.def("decode_leaves", &decoded, nb::arg("rows"), nb::arg("parents"), nb::arg("values"),
          nb::arg("slope"), nb::arg("offset"), nb::arg("k"), nb::arg("exact"),
          nb::arg("n_threads"),
          "The label sets of largest value whose paths all end in leaves: (indptr, indices).");
    m.def("decoding_weights", &write_weights, nb::arg("rows"), nb::arg("parents"),
          nb::arg("values"), nb::arg("slope"), nb::arg("offset"), nb::arg("out"),
          "Write what each label adds to the value of a set.");
    m.def("best_label_sets", &best_sets, nb::arg("rows"), nb::arg("parents"),
          nb::arg("may_be_empty"), nb::arg("n_threads"),
          "The label sets of most probable labels with the best expected figures: (indptr, "
          "indices).");
    m.def("best_ends", &best_path_ends, nb::arg("rows"), nb::arg("parents"), nb::arg("ends"),
          nb::arg("n_threads"), "The last labels of the paths with the best expected figures.");
    m.def("climb", &climbed, nb::arg("rows"), nb::arg("parents"), nb::arg("ends"),
          "The labels from the most probable end of each path up to the top, as many as there are "
          "levels, -1 after the top; and the largest scores so far.");
}

}  // namespace ramify::bindings
