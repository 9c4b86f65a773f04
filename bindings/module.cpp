// The extension module ramify._core: thin doors into core/, nothing else.
#include "init.hpp"

NB_MODULE(_core, m) {
    m.doc() =
        "Native kernels of ramify. Arrays in, arrays out; the Python layer checks and explains.";
    ramify::bindings::init_arff(m);
    ramify::bindings::init_boosting(m);
    ramify::bindings::init_closure(m);
    ramify::bindings::init_coherence(m);
    ramify::bindings::init_curves(m);
    ramify::bindings::init_decode(m);
    ramify::bindings::init_extension(m);
    ramify::bindings::init_random(m);
    ramify::bindings::init_tree(m);
    ramify::bindings::init_votes(m);
}
