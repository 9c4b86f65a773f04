// Binds the booster of core/gradient_boosting, which learns tree by tree.
#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <memory>

#include "boosting.hpp"
#include "gradient_boosting/booster.hpp"
#include "gradient_boosting/predicting.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using FloatMatrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstFloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void make_booster(GradientBooster* self, std::shared_ptr<BoostingPlan> plan,
                  const Vector<double>& start) {
    require(start.size() == plan->n_outputs(), "start must have one number per output");
    for (const double margin : view(start)) {
        require(std::isfinite(static_cast<float>(margin)), "start must be finite");
    }
    const Unlocked unlocked;
    new (self) GradientBooster(std::move(plan), view(start));
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

void hide(GradientBooster& booster, const Vector<std::uint32_t>& of_row,
          const LabelRows& patterns) {
    check_patterns(of_row, patterns, booster.n_rows(), booster.n_outputs());
    const Unlocked unlocked;
    booster.hide(view(of_row), patterns.sorted());
}

void learn(GradientBooster& booster, BoostedTrees& model) {
    require(model.n_outputs == booster.n_outputs() && model.n_features == booster.n_features(),
            "the model must have the features and outputs of the booster");
    auto tree = stoppable([&] {
        StopSignal signal(interrupted_by(nullptr));
        return booster.learn(signal);
    });
    append_tree(model, std::move(tree));
}

}  // namespace

void init_gradient_boosting(nb::module_& m) {
    nb::class_<GradientBooster>(m, "GradientBooster", "Learns boosted trees, one per round.")
        .def("__init__", &make_booster, nb::arg("plan"), nb::arg("start"))
        .def("learn", &learn, nb::arg("model"), "Append one tree to the model.")
        .def("loss", &loss_of_rows, nb::arg("held_out"))
        .def("copy_margins", &copy_margins, nb::arg("rows"), nb::arg("out"))
        .def("add_margins", &add_margins, nb::arg("margins"))
        .def("hide", &hide, nb::arg("of_row"), nb::arg("patterns"),
             "Learn nothing from outputs that are not known. For logistic loss, before learning.");
}

}  // namespace ramify::bindings
