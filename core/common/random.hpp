// Random number generators that give the same numbers on every platform.
#pragma once

#include <cstdint>

namespace ramify {

/// The finaliser of SplitMix64: spreads nearby integers over all 64 bits.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// SplitMix64: a counter with a finaliser. Every node of a tree has its own, seeded by its place
/// in the tree, so that draws do not depend on the order in which nodes are grown.
class SplitMix {
  public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        return mix(state_);
    }
    /// Uniform in [0, bound), without bias (Lemire's method).
    std::uint32_t below(std::uint32_t bound) {
        for (;;) {
            const std::uint64_t product = (next() >> 32) * bound;
            const auto low = static_cast<std::uint32_t>(product);
            if (low >= bound || low >= static_cast<std::uint32_t>(-bound) % bound) {
                return static_cast<std::uint32_t>(product >> 32);
            }
        }
    }
    /// Uniform in [0, 1) with 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  private:
    std::uint64_t state_;
};

/// java.util.Random, the linear congruential generator that CLUS uses.
class JavaRandom {
  public:
    /// Continues from the state of another generator.
    explicit JavaRandom(std::uint64_t state) : state_(state & mask) {}
    std::uint64_t state() const { return state_; }
    std::int32_t next(int bits) {
        state_ = (state_ * 0x5DEECE66Du + 0xBu) & mask;
        return static_cast<std::int32_t>(static_cast<std::int64_t>(state_) >> (48 - bits));
    }
    std::int32_t next_int(std::int32_t bound) {
        if ((bound & -bound) == bound) {
            return static_cast<std::int32_t>((static_cast<std::int64_t>(bound) * next(31)) >> 31);
        }
        for (;;) {
            const std::int32_t bits = next(31);
            const std::int32_t value = bits % bound;
            // Java relies on the overflow of bits - value + (bound - 1) to reject.
            if (static_cast<std::int64_t>(bits) - value + (bound - 1) <= 0x7FFFFFFF) return value;
        }
    }

  private:
    static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;
    std::uint64_t state_;
};

}  // namespace ramify
