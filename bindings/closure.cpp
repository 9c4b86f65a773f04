// Python's view of core/hierarchy/closure.hpp.
#include "hierarchy/closure.hpp"

#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "init.hpp"

namespace ramify::bindings {

namespace {

using Indptr = Vector<std::int64_t>;
using Indices = Vector<std::int32_t>;

/// Nothing that Python passes may make the core read out of bounds.
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

SparseRowsView checked_ancestors(const Indptr& indptr, const Indices& indices) {
    if (indptr.size() == 0) throw std::invalid_argument("indptr must not be empty");
    return checked_rows(indptr, indices, indptr.size() - 1);
}

using Rows = std::pair<Owned<std::int64_t>, Owned<std::int32_t>>;

Rows as_pair(SparseRows&& rows) {
    return {to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices))};
}

Rows ancestors_of_all(const Indptr& indptr, const Indices& indices) {
    const auto parents = checked_ancestors(indptr, indices);
    for (std::size_t label = 0; label < parents.n_rows(); ++label) {
        for (const std::int32_t parent : parents.row(label)) {
            if (static_cast<std::size_t>(parent) >= label) {
                throw std::invalid_argument("labels must be in topological order");
            }
        }
    }
    SparseRows rows;
    {
        nb::gil_scoped_release release;
        rows = ancestors(parents);
    }
    return as_pair(std::move(rows));
}

template <SparseRows (*kernel)(SparseRowsView, SparseRowsView)>
Rows over_rows(const Indptr& indptr, const Indices& indices, const Indptr& ancestor_indptr,
               const Indices& ancestor_indices) {
    const auto ancestors_view = checked_ancestors(ancestor_indptr, ancestor_indices);
    const auto labels = checked_rows(indptr, indices, ancestors_view.n_rows());
    SparseRows rows;
    {
        nb::gil_scoped_release release;
        rows = kernel(labels, ancestors_view);
    }
    return as_pair(std::move(rows));
}

}  // namespace

void init_closure(nb::module_& m) {
    m.def("ancestors", &ancestors_of_all, nb::arg("parent_indptr"), nb::arg("parent_indices"),
          "All ancestors of every label as (indptr, indices).");
    m.def("close_upwards", &over_rows<&close_upwards>, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("ancestor_indptr"), nb::arg("ancestor_indices"),
          "Rows of labels with all their ancestors as (indptr, indices).");
    m.def("most_specific", &over_rows<&most_specific>, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("ancestor_indptr"), nb::arg("ancestor_indices"),
          "Rows of labels without those implied by a descendant as (indptr, indices).");
}

}  // namespace ramify::bindings
