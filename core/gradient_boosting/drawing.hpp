// Random draws of a round: of features, and of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace ramify {

/// The seeds of a round; they differ for every round and purpose.
struct RoundSeeds {
    std::uint64_t sketch;
    std::uint64_t rows;
    std::uint64_t features;

    static RoundSeeds of(std::uint64_t seed, std::uint64_t round) {
        const auto first = mix(seed) + 4 * round;
        return {mix(first), mix(first + 1), mix(first + 2)};
    }
};

/// `n` of the numbers in `from`, increasing (Floyd's method would need a set; sizes are small).
template <typename T>
std::vector<T> choose(std::span<const T> from, std::size_t n, std::uint64_t seed) {
    std::vector<T> chosen(from.begin(), from.end());
    if (n == 0 || n >= chosen.size()) return chosen;
    SplitMix random(seed);
    for (std::size_t i = 0; i < n; ++i) {
        const auto left = static_cast<std::uint32_t>(chosen.size() - i);
        std::swap(chosen[i], chosen[i + random.below(left)]);
    }
    chosen.resize(n);
    std::ranges::sort(chosen);
    return chosen;
}

/// Draws every row independently, so that the draw of a row depends on its number alone and not
/// on the other rows of its partition.
class RowDraw {
  public:
    RowDraw(std::uint64_t seed, double share)
        : seed_(seed),
          all_(share >= 1),
          below_(all_ ? 0 : static_cast<std::uint64_t>(share * 0x1.0p64)) {}
    bool has(std::uint64_t row) const { return all_ || mix(seed_ ^ mix(row)) < below_; }

  private:
    std::uint64_t seed_;
    bool all_;
    std::uint64_t below_;
};

}  // namespace ramify
