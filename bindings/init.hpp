// One init function per binding file; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace ramify::bindings {

void init_arff(nanobind::module_& m);
void init_boosting(nanobind::module_& m);
void init_closure(nanobind::module_& m);
void init_coherence(nanobind::module_& m);
void init_curves(nanobind::module_& m);
void init_decode(nanobind::module_& m);
void init_extension(nanobind::module_& m);
void init_random(nanobind::module_& m);
void init_tree(nanobind::module_& m);
void init_votes(nanobind::module_& m);

}  // namespace ramify::bindings
