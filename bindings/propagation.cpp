// Binds core/hierarchy/propagation: sparse scores and the ancestors of their labels.
#include "hierarchy/propagation.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "init.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Indptr = Vector<std::int64_t>;
using Indices = Vector<std::int32_t>;
using Result = std::tuple<Owned<std::int64_t>, Owned<std::int32_t>, Owned<double>>;

/// Checks everything that could make the core read out of bounds, except for the indices.
SparseRowsView checked_layout(const Indptr& indptr, const Indices& indices) {
    const SparseRowsView rows{view(indptr), view(indices)};
    if (rows.indptr.empty() || rows.indptr.front() != 0 ||
        rows.indptr.back() != static_cast<std::int64_t>(rows.indices.size())) {
        throw std::invalid_argument("indptr must start at 0 and end at len(indices)");
    }
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        if (rows.indptr[r] > rows.indptr[r + 1]) {
            throw std::invalid_argument("indptr must not decrease");
        }
    }
    return rows;
}

Result propagated(const Indptr& indptr, const Indices& indices, const Vector<double>& scores,
                  const Indptr& parent_indptr, const Indices& parent_indices,
                  const std::string& how) {
    if (how != "max" && how != "fill") {
        throw std::invalid_argument("how must be 'max' or 'fill', got '" + how + "'");
    }
    const auto parents = checked_layout(parent_indptr, parent_indices);
    for (std::size_t label = 0; label < parents.n_rows(); ++label) {
        for (const std::int32_t parent : parents.row(label)) {
            if (parent < 0 || static_cast<std::size_t>(parent) >= label) {
                throw std::invalid_argument("labels must be in topological order");
            }
        }
    }
    const auto labels = checked_layout(indptr, indices);
    for (const std::int32_t label : labels.indices) {
        if (label < 0 || static_cast<std::size_t>(label) >= parents.n_rows()) {
            throw std::invalid_argument("indices must lie in [0, n_labels)");
        }
    }
    if (scores.size() != labels.indices.size()) {
        throw std::invalid_argument("scores must have one entry per index");
    }
    const auto kind = how == "max" ? Propagation::max : Propagation::fill;
    StopSignal signal(interrupted_by(nullptr));
    auto result =
        stoppable([&] { return propagate(labels, view(scores), parents, kind, signal); });
    return {to_numpy(std::move(result.rows.indptr)), to_numpy(std::move(result.rows.indices)),
            to_numpy(std::move(result.scores))};
}

}  // namespace

void init_propagation(nb::module_& m) {
    m.def("propagate", &propagated, nb::arg("indptr"), nb::arg("indices"), nb::arg("scores"),
          nb::arg("parent_indptr"), nb::arg("parent_indices"), nb::arg("how"),
          "Sparse scores of labels and their ancestors as (indptr, indices, scores).");
}

}  // namespace ramify::bindings
