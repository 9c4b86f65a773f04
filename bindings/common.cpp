// Binds core/common: bootstrap samples, and the flag that stops work in the core.
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "common/random.hpp"
#include "init.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

constexpr std::size_t max_rows = 0x7FFFFFFF;

/// How often each row comes up in draws with replacement; draw() gives a row.
template <typename Draw>
std::vector<std::int32_t> count_draws(std::size_t n_rows, std::size_t n_draws, Draw draw) {
    if (n_rows == 0 || n_rows > max_rows || n_draws > max_rows) {
        throw std::invalid_argument("rows and draws must be between 1 and 2**31 - 1");
    }
    std::vector<std::int32_t> counts(n_rows, 0);
    for (std::size_t k = 0; k < n_draws; ++k) ++counts[static_cast<std::size_t>(draw())];
    return counts;
}

Owned<std::int32_t> bootstrap(std::uint64_t seed, std::size_t n_rows, std::size_t n_draws) {
    SplitMix random(mix(seed));
    return to_numpy(count_draws(n_rows, n_draws,
                                [&] { return random.below(static_cast<std::uint32_t>(n_rows)); }));
}

nb::typed<nb::tuple, Owned<std::int32_t>, std::uint64_t> java_bootstrap(std::uint64_t state,
                                                                        std::size_t n_rows,
                                                                        std::size_t n_draws) {
    JavaRandom random(state);
    auto counts = count_draws(n_rows, n_draws,
                              [&] { return random.next_int(static_cast<std::int32_t>(n_rows)); });
    return nb::typed<nb::tuple, Owned<std::int32_t>, std::uint64_t>(
        nb::make_tuple(to_numpy(std::move(counts)), random.state()));
}

}  // namespace

void init_common(nb::module_& m) {
    m.def("bootstrap", &bootstrap, nb::arg("seed"), nb::arg("n_rows"), nb::arg("n_draws"),
          "How often each row is drawn; the same numbers on every platform.");
    m.def("java_bootstrap", &java_bootstrap, nb::arg("state"), nb::arg("n_rows"),
          nb::arg("n_draws"),
          "The same by java.util.Random in a given state, and its state after the last draw.");
}

}  // namespace ramify::bindings
