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
#include "label_rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Result = std::tuple<Owned<std::int64_t>, Owned<std::int32_t>, Owned<double>>;

Result propagated(const LabelRows& labels, const Vector<double>& scores, const LabelRows& given,
                  const std::string& how) {
    if (how != "max" && how != "fill") {
        throw std::invalid_argument("how must be 'max' or 'fill', got '" + how + "'");
    }
    const auto parents = given.parents();
    const auto rows = labels.rows();
    require(labels.n_labels() == given.n_labels(), "labels and parents must have the same labels");
    require(scores.size() == rows.indices.size(), "scores must have one entry per index");
    const auto kind = how == "max" ? Propagation::max : Propagation::fill;
    StopSignal signal(interrupted_by(nullptr));
    auto result = stoppable([&] { return propagate(rows, view(scores), parents, kind, signal); });
    return {to_numpy(std::move(result.rows.indptr)), to_numpy(std::move(result.rows.indices)),
            to_numpy(std::move(result.scores))};
}

}  // namespace

void init_propagation(nb::module_& m) {
    m.def("propagate", &propagated, nb::arg("labels"), nb::arg("scores"), nb::arg("parents"),
          nb::arg("how"),
          "Sparse scores of labels and their ancestors as (indptr, indices, scores).");
}

}  // namespace ramify::bindings
