// Sorting the entries of a node by the rank of their value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace ramify {

/// Sorts by rank; entries with the same rank stay in order. Rank and entry share a key of 32 bits
/// unless both are large. A few keys are sorted by comparing all pairs, which needs no branches,
/// many by radix sort.
class RankSorter {
  public:
    /// Entries are below `n_entries` and are added in increasing order; ranks are below `n_ranks`.
    void reset(std::size_t n_entries, std::size_t n_ranks);
    /// Whether rank and entry fit a key; nothing can be added otherwise, see sort_items().
    bool fits() const { return entry_bits_ + rank_bits_ <= 31; }
    void add_if(bool wanted, std::uint32_t entry, std::uint32_t rank) {
        keys_[n_] = rank << entry_bits_ | entry;
        n_ += wanted;
    }
    /// The sorted entries, valid until the next call.
    std::span<const RankedEntry> sort();
    /// Sorts entries that do not fit a key; their ranks are below `n_ranks` of reset().
    void sort_items(std::span<RankedEntry> items);

  private:
    void count_digits();
    unsigned bits_per_pass(std::size_t n) const;
    RankedEntry item(std::uint32_t key) const {
        return {key & ((1u << entry_bits_) - 1), key >> entry_bits_};
    }

    unsigned entry_bits_ = 0;
    unsigned rank_bits_ = 0;
    std::size_t n_ = 0;
    std::vector<std::uint32_t> keys_;
    std::vector<std::uint32_t> scratch_;  // of count_digits(); few keys: their places
    std::vector<std::uint32_t> starts_;
    std::vector<RankedEntry> sorted_;
};

}  // namespace ramify
