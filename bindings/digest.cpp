// A digest of the native sources, computed by cmake/digest_sources.py at build time.
#include "init.hpp"
#include "source_digest.hpp"

namespace ramify::bindings {

void init_digest(nanobind::module_& m) {
    m.def(
        "source_digest", [] { return RAMIFY_SOURCE_DIGEST; },
        "A digest of the C++ code, without comments, layout and file names.");
}

}  // namespace ramify::bindings
