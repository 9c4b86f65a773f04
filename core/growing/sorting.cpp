#include "growing/sorting.hpp"

#include <algorithm>
#include <bit>

#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr std::size_t few = 64;  // keys that are sorted by comparing all pairs

}  // namespace

void RankSorter::reset(std::size_t n_entries, std::size_t n_ranks) {
    entry_bits_ = static_cast<unsigned>(std::bit_width(n_entries));
    rank_bits_ = static_cast<unsigned>(std::bit_width(n_ranks));
    n_ = 0;
    if (sorted_.size() < n_entries + 1) {
        keys_.resize(n_entries + 1 + place_block);
        scratch_.resize(n_entries + 1 + place_block);
        sorted_.resize(n_entries + 1);
    }
}

std::span<const RankedEntry> RankSorter::sort() {
    if (n_ <= few) {
        find_places(reinterpret_cast<const std::int32_t*>(keys_.data()), n_, scratch_.data());
        for (std::size_t k = 0; k < n_; ++k) sorted_[scratch_[k]] = item(keys_[k]);
    } else {
        count_digits();
    }
    return {sorted_.data(), n_};
}

/// As few passes over the bits of the ranks as tables of about n counts allow.
unsigned RankSorter::bits_per_pass(std::size_t n) const {
    const auto widest = std::clamp(static_cast<unsigned>(std::bit_width(n)) - 1, 6u, 12u);
    const unsigned n_passes = (rank_bits_ + widest - 1) / widest;
    return (rank_bits_ + n_passes - 1) / n_passes;
}

void RankSorter::sort_items(std::span<RankedEntry> items) {
    constexpr std::size_t small = 512;
    if (items.size() <= small) {
        std::ranges::stable_sort(items, {}, &RankedEntry::rank);
        return;
    }
    const unsigned digit_bits = bits_per_pass(items.size());
    const std::uint32_t mask = (1u << digit_bits) - 1;
    std::span<RankedEntry> from = items;
    std::span<RankedEntry> to(sorted_.data(), items.size());
    for (unsigned shift = 0; shift < rank_bits_; shift += digit_bits) {
        starts_.assign(mask + 2, 0);
        for (const auto& item : from) ++starts_[((item.rank >> shift) & mask) + 1];
        for (std::uint32_t digit = 0; digit < mask; ++digit) starts_[digit + 1] += starts_[digit];
        for (const auto& item : from) to[starts_[(item.rank >> shift) & mask]++] = item;
        std::swap(from, to);
    }
    if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

/// Radix sort of the keys by their rank bits.
void RankSorter::count_digits() {
    const unsigned digit_bits = bits_per_pass(n_);
    const unsigned n_passes = (rank_bits_ + digit_bits - 1) / digit_bits;
    const std::uint32_t mask = (1u << digit_bits) - 1;
    for (unsigned pass = 0; pass < n_passes; ++pass) {
        const unsigned shift = entry_bits_ + pass * digit_bits;
        starts_.assign(mask + 2, 0);
        for (std::size_t k = 0; k < n_; ++k) ++starts_[((keys_[k] >> shift) & mask) + 1];
        for (std::uint32_t digit = 0; digit < mask; ++digit) starts_[digit + 1] += starts_[digit];
        if (pass + 1 < n_passes) {
            for (std::size_t k = 0; k < n_; ++k) {
                scratch_[starts_[(keys_[k] >> shift) & mask]++] = keys_[k];
            }
            keys_.swap(scratch_);
        } else {
            for (std::size_t k = 0; k < n_; ++k) {
                sorted_[starts_[(keys_[k] >> shift) & mask]++] = item(keys_[k]);
            }
        }
    }
}

}  // namespace ramify
