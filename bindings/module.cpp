// The extension module ramify._core: a thin layer over core/.
#include <nanobind/nanobind.h>

#include "init.hpp"

NB_MODULE(_core, m) {
    using namespace ramify::bindings;
    m.doc() =
        "Native kernels of ramify. Arrays in, arrays out; the Python layer checks and explains.";
    // A native object lives as long as the estimator that owns it, which other modules may still
    // hold when Python ends: that is no leak of these bindings, which never hold an estimator.
    nanobind::set_leak_warnings(false);
    // Types are bound before the functions that take them.
    init_stopping(m);
    init_common(m);
    init_data(m);
    init_hierarchy(m);
    init_tree(m);
    init_adaboost(m);
    init_arff(m);
    init_boosted_trees(m);
    init_boosting_plan(m);
    init_brdt(m);
    init_curves(m);
    init_decoding(m);
    init_gradient_boosting(m);
    init_boosting_shards(m);
    init_growing(m);
    init_linear(m);
    init_many_labels(m);
    init_propagation(m);
}
