// Binds core/hierarchy: closure of label sets and coherence of scores.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "hierarchy/closure.hpp"
#include "hierarchy/coherence.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Pair = std::pair<Owned<std::int64_t>, Owned<std::int32_t>>;

Pair as_pair(SparseRows&& rows) {
    return {to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices))};
}

Pair ancestors_of_all(const LabelRows& parents, std::size_t max_size) {
    const auto edges = parents.parents();
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return ancestors(edges, max_size, signal); }));
}

/// Edges from each label to others, in either direction of the hierarchy.
SparseRowsView edges_for(const LabelRows& labels, const LabelRows& edges) {
    require(edges.n_rows() == edges.n_labels() && labels.n_labels() == edges.n_labels(),
            "there must be a row of edges per label");
    return edges.rows();
}

Pair closed_rows(const LabelRows& labels, const LabelRows& parents, std::size_t max_size) {
    const auto edges = edges_for(labels, parents);
    const auto rows = labels.rows();
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return close_upwards(rows, edges, max_size, signal); }));
}

Pair most_specific_rows(const LabelRows& labels, const LabelRows& parents) {
    const auto edges = edges_for(labels, parents);
    const auto rows = labels.rows();
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return most_specific(rows, edges, signal); }));
}

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnedMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

SparseRowsView parents_of(const LabelRows& parents, const Scores& scores) {
    require(parents.n_labels() == scores.shape(1), "scores must have a column per label");
    return parents.parents();
}

Repair repair_of(const std::string& name) {
    if (name == "max") return Repair::max;
    if (name == "min") return Repair::min;
    if (name == "isotonic") return Repair::isotonic;
    throw std::invalid_argument("method must be 'max', 'min' or 'isotonic', got '" + name + "'");
}

OwnedMatrix repaired(const Scores& scores, const LabelRows& given, const Vector<double>& weight,
                     const std::string& method, unsigned n_threads) {
    const auto parents = parents_of(given, scores);
    const auto repair = repair_of(method);
    const auto weights = view(weight);
    if (weights.size() != scores.shape(1) ||
        !std::all_of(weights.begin(), weights.end(),
                     [](double w) { return w > 0.0 && std::isfinite(w); })) {
        throw std::invalid_argument("weight must have one positive number per column of scores");
    }
    if (!std::all_of(scores.data(), scores.data() + scores.size(),
                     [](double x) { return std::isfinite(x); })) {
        throw std::invalid_argument("scores must be finite");
    }
    auto values =
        std::make_unique<std::vector<double>>(scores.data(), scores.data() + scores.size());
    stoppable([&] {
        make_coherent(*values, parents, weights, repair, std::max(1u, n_threads),
                      interrupted_by(nullptr));
    });
    double* data = values->data();
    nb::capsule owner(values.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return OwnedMatrix(data, {scores.shape(0), scores.shape(1)}, owner);
}

std::int64_t first_incoherent_row(const Scores& scores, const LabelRows& given) {
    const auto parents = parents_of(given, scores);
    const std::size_t n_labels = scores.shape(1);
    StopSignal signal(interrupted_by(nullptr));
    return stoppable([&]() -> std::int64_t {
        for (std::size_t r = 0; r < scores.shape(0); ++r) {
            signal.check();
            if (!is_coherent({scores.data() + r * n_labels, n_labels}, parents)) {
                return static_cast<std::int64_t>(r);
            }
        }
        return -1;
    });
}

}  // namespace

void init_hierarchy(nb::module_& m) {
    nb::class_<LabelRows>(m, "LabelRows", "Sets of labels; the arrays are not copied.")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::size_t>(),
             nb::arg("indptr"), nb::arg("indices"), nb::arg("n_labels"))
        .def_prop_ro("n_rows", &LabelRows::n_rows);
    m.def("ancestors", &ancestors_of_all, nb::arg("parents"), nb::arg("max_size"),
          "All ancestors of every label as (indptr, indices).");
    m.def("close_upwards", &closed_rows, nb::arg("labels"), nb::arg("parents"),
          nb::arg("max_size") = 500'000'000,
          "Rows of labels with all their ancestors as (indptr, indices).");
    m.def("most_specific", &most_specific_rows, nb::arg("labels"), nb::arg("parents"),
          "Rows of labels without those implied by a descendant as (indptr, indices).");
    m.def("make_coherent", &repaired, nb::arg("scores"), nb::arg("parents"), nb::arg("weight"),
          nb::arg("method"), nb::arg("n_threads"),
          "A copy of the scores in which no label is above a parent.");
    m.def("first_incoherent_row", &first_incoherent_row, nb::arg("scores"), nb::arg("parents"),
          "The first row with a label above a parent, -1 for none.");
}

}  // namespace ramify::bindings
