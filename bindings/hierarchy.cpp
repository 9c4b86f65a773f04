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
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Indptr = Vector<std::int64_t>;
using Indices = Vector<std::int32_t>;

/// Checks everything that could make the core read out of bounds.
SparseRowsView checked_rows(const Indptr& indptr, const Indices& indices, std::size_t n_labels) {
    const SparseRowsView rows{view(indptr), view(indices)};
    if (rows.indptr.empty() || rows.indptr.front() != 0 ||
        rows.indptr.back() != static_cast<std::int64_t>(rows.indices.size())) {
        throw std::invalid_argument("indptr must start at 0 and end at len(indices)");
    }
    for (std::size_t r = 0; r + 1 < rows.indptr.size(); ++r) {
        if (rows.indptr[r] > rows.indptr[r + 1]) {
            throw std::invalid_argument("indptr must not decrease");
        }
    }
    for (const std::int32_t label : rows.indices) {
        if (label < 0 || static_cast<std::size_t>(label) >= n_labels) {
            throw std::invalid_argument("indices must lie in [0, n_labels)");
        }
    }
    return rows;
}

SparseRowsView checked_edges(const Indptr& indptr, const Indices& indices) {
    if (indptr.size() == 0) throw std::invalid_argument("indptr must not be empty");
    return checked_rows(indptr, indices, indptr.size() - 1);
}

using LabelRows = std::pair<Owned<std::int64_t>, Owned<std::int32_t>>;

LabelRows as_pair(SparseRows&& rows) {
    return {to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices))};
}

LabelRows ancestors_of_all(const Indptr& indptr, const Indices& indices, std::size_t max_size) {
    const auto parents = checked_edges(indptr, indices);
    for (std::size_t label = 0; label < parents.n_rows(); ++label) {
        for (const std::int32_t parent : parents.row(label)) {
            if (static_cast<std::size_t>(parent) >= label) {
                throw std::invalid_argument("labels must be in topological order");
            }
        }
    }
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return ancestors(parents, max_size, signal); }));
}

LabelRows closed_rows(const Indptr& indptr, const Indices& indices, const Indptr& parent_indptr,
                      const Indices& parent_indices, std::size_t max_size) {
    const auto parents = checked_edges(parent_indptr, parent_indices);
    const auto labels = checked_rows(indptr, indices, parents.n_rows());
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return close_upwards(labels, parents, max_size, signal); }));
}

LabelRows most_specific_rows(const Indptr& indptr, const Indices& indices,
                             const Indptr& parent_indptr, const Indices& parent_indices) {
    const auto parents = checked_edges(parent_indptr, parent_indices);
    const auto labels = checked_rows(indptr, indices, parents.n_rows());
    StopSignal signal(interrupted_by(nullptr));
    return as_pair(stoppable([&] { return most_specific(labels, parents, signal); }));
}

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnedMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

SparseRowsView checked_parents(const Indptr& indptr, const Indices& indices,
                               const Scores& scores) {
    const SparseRowsView parents{view(indptr), view(indices)};
    if (parents.indptr.size() != scores.shape(1) + 1 || parents.indptr.front() != 0 ||
        parents.indptr.back() != static_cast<std::int64_t>(parents.indices.size())) {
        throw std::invalid_argument(
            "indptr must have one entry per column of scores and one more");
    }
    for (std::size_t label = 0; label < parents.n_rows(); ++label) {
        if (parents.indptr[label] > parents.indptr[label + 1]) {
            throw std::invalid_argument("indptr must not decrease");
        }
        for (const std::int32_t parent : parents.row(label)) {
            if (parent < 0 || static_cast<std::size_t>(parent) >= label) {
                throw std::invalid_argument("labels must be in topological order");
            }
        }
    }
    return parents;
}

Repair repair_of(const std::string& name) {
    if (name == "max") return Repair::max;
    if (name == "min") return Repair::min;
    if (name == "isotonic") return Repair::isotonic;
    throw std::invalid_argument("method must be 'max', 'min' or 'isotonic', got '" + name + "'");
}

OwnedMatrix repaired(const Scores& scores, const Indptr& indptr, const Indices& indices,
                     const Vector<double>& weight, const std::string& method, unsigned n_threads) {
    const auto parents = checked_parents(indptr, indices, scores);
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

std::int64_t first_incoherent_row(const Scores& scores, const Indptr& indptr,
                                  const Indices& indices) {
    const auto parents = checked_parents(indptr, indices, scores);
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
    m.def("ancestors", &ancestors_of_all, nb::arg("parent_indptr"), nb::arg("parent_indices"),
          nb::arg("max_size"), "All ancestors of every label as (indptr, indices).");
    m.def("close_upwards", &closed_rows, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("parent_indptr"), nb::arg("parent_indices"), nb::arg("max_size") = 500'000'000,
          "Rows of labels with all their ancestors as (indptr, indices).");
    m.def("most_specific", &most_specific_rows, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("parent_indptr"), nb::arg("parent_indices"),
          "Rows of labels without those implied by a descendant as (indptr, indices).");
    m.def("make_coherent", &repaired, nb::arg("scores"), nb::arg("indptr"), nb::arg("indices"),
          nb::arg("weight"), nb::arg("method"), nb::arg("n_threads"),
          "A copy of the scores in which no label is above a parent.");
    m.def("first_incoherent_row", &first_incoherent_row, nb::arg("scores"), nb::arg("indptr"),
          nb::arg("indices"), "The first row with a label above a parent, -1 for none.");
}

}  // namespace ramify::bindings
