// A search index for many lookups of doubles among the same sorted keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace ramify {

/// Distinct finite keys in increasing order, with a table that finds a key in a step or two.
///
/// The bits of a double, read as an integer (inverted for negative numbers), increase with its
/// value. The range of these integers is divided into equal slices, and the table gives the first
/// key of each slice. Slices are roughly logarithmic in the value, which suits scores that are
/// concentrated near 0. A branchless binary search finishes within the slice.
class KeyIndex {
  public:
    explicit KeyIndex(std::vector<double>&& keys) : keys_(std::move(keys)), n_keys_(keys_.size()) {
        if (n_keys_ > 0) build();
        // A sentinel, larger than every score.
        keys_.push_back(std::numeric_limits<double>::infinity());
    }

    std::size_t size() const { return n_keys_; }
    double operator[](std::size_t k) const { return keys_[k]; }

    /// The position of the first key >= x, or size() if there is none. Requires at least one key.
    std::size_t lower_bound(double x) const {
        const std::size_t slice = slice_of(x);
        std::size_t k = first_[slice];
        std::size_t n = first_[slice + 1] - k;
        while (n > 0) {
            const std::size_t half = n / 2;
            const bool below = keys_[k + half] < x;
            k = below ? k + half + 1 : k;
            n = below ? n - half - 1 : half;
        }
        return k;
    }

  private:
    static constexpr std::uint64_t max_slices = std::uint64_t{1} << 16;

    /// An integer that increases with x. Adding 0 turns -0 into 0.
    static std::uint64_t ordered_bits(double x) {
        const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
        const std::uint64_t sign = std::uint64_t{1} << 63;
        return bits & sign ? ~bits : bits | sign;
    }

    std::size_t slice_of(double x) const {
        const std::uint64_t bits = std::clamp(ordered_bits(x), low_, high_);
        return static_cast<std::size_t>((bits - low_) >> shift_);
    }

    void build() {
        // In bit patterns, a key of exactly 0 is so far from the next key that it would leave too
        // few slices for the others; it is put into the first slice instead.
        const bool zero_first = n_keys_ > 1 && keys_[0] == 0.0;
        low_ = ordered_bits(keys_[zero_first ? 1 : 0]);
        high_ = ordered_bits(keys_[n_keys_ - 1]);
        const std::uint64_t wanted = std::min<std::uint64_t>(max_slices, 4 * n_keys_);
        while (((high_ - low_) >> shift_) >= wanted) ++shift_;
        first_.assign(static_cast<std::size_t>((high_ - low_) >> shift_) + 2, 0);
        for (std::size_t k = 0; k < n_keys_; ++k) ++first_[slice_of(keys_[k]) + 1];
        for (std::size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
    }

    std::vector<double> keys_;
    std::size_t n_keys_;
    std::vector<std::uint32_t> first_;
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
    int shift_ = 0;
};

}  // namespace ramify
