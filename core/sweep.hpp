// Entries of a node cross from one side to the other in the order of a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataset.hpp"

namespace ramify {

/// Which candidates of a sweep count: both sides must have enough rows and weight.
struct SweepLimits {
    const double* part;  // per entry: how much of its row is here
    bool unit;           // every entry is one whole row of weight 1
    bool by_part;        // the weights of entries are their parts
    double known_rows;
    double least_rows;
    double least_weight;
    bool by_gain;  // the largest gain wins, whatever the sizes of the sides

    bool too_few(double rows, double weight) const {
        return rows < least_rows || weight < least_weight || weight <= 0;
    }
};

/// Moves entries in order and shows the visitor each place between two ranks:
/// visit(k, next rank, gain, left weight). `next_rank` follows the last item (missing_rank:
/// nothing does). Stops when the rest grows too small.
template <typename Mover, typename Visit>
void sweep_items(std::span<const RankedEntry> items, std::uint32_t next_rank,
                 const SweepLimits& limits, Mover& mover, Visit&& visit) {
    const std::size_t n = items.size();
    double rows = 0;
    for (std::size_t k = 0; k < n; ++k) {
        mover.move(items[k].entry);
        rows += limits.part[items[k].entry];
        const double left = mover.left_weight();
        const double rest = mover.known_weight() - left;
        if (limits.known_rows - rows < limits.least_rows || rest < limits.least_weight ||
            rest <= 0) {
            return;
        }
        const std::uint32_t next = k + 1 < n ? items[k + 1].rank : next_rank;
        if (next == items[k].rank || next == missing_rank || rows < limits.least_rows ||
            left < limits.least_weight || left <= 0) {
            continue;
        }
        visit(k, next, mover.gain(), left);
    }
}

/// Whether the entries of one rank from `begin` on all have class `kind` and leave enough behind.
template <typename Mover>
bool run_goes_on(std::span<const RankedEntry> items, std::size_t begin, std::int32_t kind,
                 double rest_rows, double rest_weight, const SweepLimits& limits,
                 const Mover& mover) {
    for (std::size_t k = begin; k < items.size() && items[k].rank == items[begin].rank; ++k) {
        const auto entry = items[k].entry;
        if (mover.class_of(entry) != kind) return false;
        rest_rows -= limits.part[entry];
        rest_weight -= mover.weight_of(entry);
    }
    return !limits.too_few(rest_rows, rest_weight);
}

/// As `sweep_items`, for one class per entry. While entries of one class cross, the gain is a
/// convex function of their weight: it is largest where they begin or where they end, and only
/// these places are shown.
template <typename Mover, typename Visit>
void sweep_runs(std::span<const RankedEntry> items, std::uint32_t next_rank,
                const SweepLimits& limits, Mover& mover, Visit&& visit) {
    constexpr std::int32_t several = -2;
    std::int32_t kind = several;  // of the entries with the current rank
    bool shown = false;           // the run's beginning
    double rows = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
        const auto entry = items[k].entry;
        const bool first = k == 0 || items[k - 1].rank != items[k].rank;
        kind = first || kind == mover.class_of(entry) ? mover.class_of(entry) : several;
        mover.move(entry);
        rows += limits.part[entry];
        const double left = mover.left_weight();
        const double rest = mover.known_weight() - left;
        if (limits.too_few(limits.known_rows - rows, rest)) return;
        const std::uint32_t next = k + 1 < items.size() ? items[k + 1].rank : next_rank;
        if (next == items[k].rank || next == missing_rank || limits.too_few(rows, left)) continue;
        if (shown && kind != several && k + 1 < items.size() &&
            run_goes_on(items, k + 1, kind, limits.known_rows - rows, rest, limits, mover)) {
            mover.pass_over();
            continue;
        }
        shown = true;
        visit(k, next, mover.gain(), left);
    }
}

}  // namespace ramify
