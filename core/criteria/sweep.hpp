// Sweeps: the entries of a node move from one side to the other in the order of a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/dataset.hpp"

namespace ramify {

/// The candidates of a sweep: both sides must have enough rows and weight.
struct SweepLimits {
    const double* part;  // per entry: the part of its row that is here
    bool unit;           // every entry is one whole row of weight 1
    bool whole;          // every entry is one whole row
    bool by_part;        // the weights of entries equal their parts
    double known_rows;
    double min_rows;
    double min_weight;
    bool by_gain;           // the score is the gain, whatever the sizes of the sides
    double moved_rows = 0;  // rows that have moved before

    bool too_few(double rows, double weight) const {
        return rows < min_rows || weight < min_weight || weight <= 0;
    }
};

/// Moves entries in order and shows the visitor each place between two ranks:
/// visit(k, next rank, gain, left weight). `next_rank` follows the last item (missing_rank:
/// nothing does). Stops when the right side becomes too small.
template <typename Mover, typename Visit>
void sweep_items(std::span<const RankedEntry> items, std::uint32_t next_rank,
                 const SweepLimits& limits, Mover& mover, Visit&& visit) {
    const std::size_t n = items.size();
    double rows = limits.moved_rows;
    for (std::size_t k = 0; k < n; ++k) {
        mover.move(items[k].entry);
        rows += limits.part[items[k].entry];
        const double left = mover.left_weight();
        const double rest = mover.known_weight() - left;
        if (limits.known_rows - rows < limits.min_rows || rest < limits.min_weight || rest <= 0) {
            return;
        }
        const std::uint32_t next = k + 1 < n ? items[k + 1].rank : next_rank;
        if (next == items[k].rank || next == missing_rank || rows < limits.min_rows ||
            left < limits.min_weight || left <= 0) {
            continue;
        }
        visit(k, next, mover.gain(), left);
    }
}

/// Entries of one whole row each, of weight 1.
struct UnitEntries {
    double weight(std::uint32_t) const { return 1; }
    double part(std::uint32_t) const { return 1; }
};

/// Entries whose weights equal their parts.
struct PartEntries {
    const double* parts;

    double weight(std::uint32_t entry) const { return parts[entry]; }
    double part(std::uint32_t entry) const { return parts[entry]; }
};

struct WeightedEntries {
    const double* weights;
    const double* parts;

    double weight(std::uint32_t entry) const { return weights[entry]; }
    double part(std::uint32_t entry) const { return parts[entry]; }
};

/// A run of entries of whole ranks, all of one class.
struct RunOfRanks {
    std::size_t end;
    std::size_t n_ranks = 0;
    double rows = 0;
    double weight = 0;
};

/// The ranks from `begin` on that have class `kind` only and leave the right side large enough. No
/// item follows the last one if `next_rank` is missing_rank.
template <typename Entries, typename Mover>
RunOfRanks follow_run(std::span<const RankedEntry> items, std::size_t begin,
                      std::uint32_t next_rank, std::int32_t kind, double rest_rows,
                      const SweepLimits& limits, const Entries& entries, const Mover& mover) {
    const std::size_t n = next_rank == missing_rank ? items.size() - 1 : items.size();
    const double rest_weight = mover.known_weight() - mover.left_weight();
    RunOfRanks run{begin};
    double rows = 0;
    double weight = 0;
    for (std::size_t k = begin; k < n && mover.class_of(items[k].entry) == kind; ++k) {
        rows += entries.part(items[k].entry);
        weight += entries.weight(items[k].entry);
        if (k + 1 < items.size() && items[k + 1].rank == items[k].rank) continue;
        if (limits.too_few(rest_rows - rows, rest_weight - weight)) break;
        run = {k + 1, run.n_ranks + 1, rows, weight};
    }
    return run;
}

/// As `sweep_items`, for one class per entry. While entries of one class move, the gain is a
/// convex function of their weight: it is largest where they begin or where they end, and only
/// these places are shown, as visit(k, next rank, left weight). Gains are computed later, from
/// what the mover records of each place.
template <typename Entries, typename Mover, typename Visit>
void sweep_runs(std::span<const RankedEntry> items, std::uint32_t next_rank,
                const SweepLimits& limits, const Entries& entries, Mover& mover, Visit&& visit) {
    constexpr std::int32_t several = -2;
    bool shown = false;  // the run's beginning
    double rows = 0;
    for (std::size_t k = 0; k < items.size();) {
        const auto rank = items[k].rank;
        std::int32_t kind = mover.class_of(items[k].entry);
        for (; k < items.size() && items[k].rank == rank; ++k) {
            const auto entry = items[k].entry;
            if (mover.class_of(entry) != kind) kind = several;
            mover.cross(mover.class_of(entry), entries.weight(entry));
            rows += entries.part(entry);
        }
        const double rest_rows = limits.known_rows - rows;
        if (limits.too_few(rest_rows, mover.known_weight() - mover.left_weight())) return;
        if (k == items.size() && next_rank == missing_rank) return;
        if (limits.too_few(rows, mover.left_weight())) continue;
        if (shown && kind != several) {
            const auto run =
                follow_run(items, k, next_rank, kind, rest_rows, limits, entries, mover);
            if (run.n_ranks > 0) mover.cross(kind, run.weight);
            mover.pass_over(run.n_ranks);
            rows += run.rows;
            k = run.end;
        }
        shown = true;
        const std::uint32_t next = k < items.size() ? items[k].rank : next_rank;
        mover.record();
        visit(k - 1, next, mover.left_weight());
    }
}

}  // namespace ramify
