#include "marking_search.hpp"

#include <bit>

#include "simd.hpp"

namespace ramify {

std::size_t list_places(const MarkedNode& node, const MarkedFeature& feature, double* moved,
                        MarkedPlace* places) {
    std::size_t n = 0;
    MarkedPlace sums{0, 0, 0, 0};
    std::uint32_t bound = 0;  // after the last rare row's code; 0: there was none
    for (std::size_t w = 0; w < feature.n_words; ++w) {
        for (auto word = feature.rare[w]; word != 0; word &= word - 1) {
            const auto row =
                feature.row[w * 64 + static_cast<std::size_t>(std::countr_zero(word))];
            const std::uint32_t code = feature.code[row];
            if (code + 1 != bound) {
                if (bound != 0) {
                    sums.bound = bound;
                    places[n++] = sums;
                }
                if (code != bound) {
                    sums.bound = code;
                    places[n++] = sums;
                }
                bound = code + 1;
            }
            const auto kind = node.class_of[row];
            sums.n += 1;
            sums.square += 2 * moved[kind] + 1;
            sums.cross += node.total[kind];
            moved[kind] += 1;
        }
        feature.rare[w] = 0;
    }
    if (bound != 0) {
        sums.bound = bound;
        places[n++] = sums;
    }
    return n;
}

// For its many counts of bits, which the widest instruction sets have an instruction for.
RAMIFY_ANY_WIDTH
bool choose_place(const MarkedNode& node, const MarkedFeature& feature, const MarkedPlace* places,
                  std::size_t n, std::uint32_t* before, MarkedTest& best) {
    std::uint32_t n_before = 0;
    for (std::size_t w = 0; w < feature.n_words; ++w) {
        before[w] = n_before;
        n_before += static_cast<std::uint32_t>(std::popcount(feature.members[w]));
    }
    const double part = node.square / node.weight;
    double needed = part + best.gain + node.tolerance;
    bool found = false;
    for (std::size_t k = 0; k < n; ++k) {
        const MarkedPlace& place = places[k];
        const std::size_t position = feature.start[place.bound];
        const std::uint64_t below = (std::uint64_t{1} << (position % 64)) - 1;
        const double left =
            before[position / 64] + std::popcount(feature.members[position / 64] & below);
        const double rest = node.weight - left;
        const double others = left - place.n;  // of the commonest class
        const double square = place.square + others * others;
        const double cross = place.cross + others * node.major;
        const double rest_square = node.square - 2 * cross + square;
        // Without divisions, which most places do not deserve; nothing on one side is no test.
        if (!(square * rest + rest_square * left > needed * (left * rest))) continue;
        const double gain = square / left + rest_square / rest - part;
        if (left <= 0 || rest <= 0 || !(gain > best.gain + node.tolerance)) continue;
        found = true;
        needed = part + gain + node.tolerance;
        best.gain = gain;
        best.left = left;
        best.bound = place.bound;
    }
    return found;
}

}  // namespace ramify
