// One function per file of bindings; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace ramify::bindings {

void init_adaboost(nanobind::module_& m);
void init_arff(nanobind::module_& m);
void init_boosted_trees(nanobind::module_& m);
void init_boosting_plan(nanobind::module_& m);
void init_boosting_shards(nanobind::module_& m);
void init_brdt(nanobind::module_& m);
void init_common(nanobind::module_& m);
void init_stopping(nanobind::module_& m);
void init_curves(nanobind::module_& m);
void init_data(nanobind::module_& m);
void init_decoding(nanobind::module_& m);
void init_gradient_boosting(nanobind::module_& m);
void init_growing(nanobind::module_& m);
void init_hierarchy(nanobind::module_& m);
void init_linear(nanobind::module_& m);
void init_many_labels(nanobind::module_& m);
void init_propagation(nanobind::module_& m);
void init_tree(nanobind::module_& m);

}  // namespace ramify::bindings
