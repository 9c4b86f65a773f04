#include "adaboost/margins.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "adaboost/search.hpp"

namespace ramify {

namespace {

constexpr std::size_t rows_per_task = 64;

template <typename Rows>
bool goes_right(const BoostingRounds& rounds, std::size_t test, const Rows& row) {
    if (rounds.feature[test] < 0) return false;
    const double value = row[rounds.feature[test]];
    if (std::isnan(value)) return rounds.default_right[test] != 0;
    const auto begin = static_cast<std::size_t>(rounds.category_indptr[test]);
    const auto end = static_cast<std::size_t>(rounds.category_indptr[test + 1]);
    if (begin == end) return value > rounds.threshold[test];
    if (!(value >= 0 && value < static_cast<double>(end - begin))) {
        return rounds.default_right[test] != 0;
    }
    return rounds.category_right[begin + static_cast<std::size_t>(value)] != 0;
}

/// The leaf that a row reaches in tree `tested` of a round.
template <typename Rows>
std::size_t leaf_of(const BoostingRounds& rounds, std::size_t round, std::size_t tested,
                    const Rows& row) {
    std::size_t node = 0;
    for (std::size_t level = 0; level < rounds.depth; ++level) {
        const auto heap = round * rounds.n_nodes() + (std::size_t{1} << level) - 1 + node;
        node = 2 * node + (goes_right(rounds, heap * rounds.n_tested + tested, row) ? 1 : 0);
    }
    return node;
}

template <typename Rows>
void vote(const BoostingRounds& rounds, std::size_t round, const Rows& row,
          std::span<std::int8_t> votes) {
    const auto* signs = rounds.sign.data() + round * rounds.n_leaves() * rounds.n_labels;
    if (rounds.n_tested == 1) {
        const auto* leaf = signs + leaf_of(rounds, round, 0, row) * rounds.n_labels;
        std::copy_n(leaf, rounds.n_labels, votes.begin());
        return;
    }
    for (std::size_t j = 0; j < rounds.n_labels; ++j) {
        votes[j] = signs[leaf_of(rounds, round, j, row) * rounds.n_labels + j];
    }
}

/// Makes votes negative where those for the parents require it.
void correct_top_down(const ParentRows& parents, const std::uint8_t* top_down,
                      std::span<std::int8_t> votes) {
    for (std::size_t j = 0; j < votes.size(); ++j) {
        const auto n_parents = static_cast<std::size_t>(parents.indptr[j + 1] - parents.indptr[j]);
        if (top_down[j] == follows_none || n_parents == 0) continue;
        const auto first = static_cast<std::size_t>(parents.indptr[j]);
        const auto above = parents.indices.subspan(first, n_parents);
        const auto is_positive = [&](std::int32_t parent) {
            return votes[static_cast<std::size_t>(parent)] > 0;
        };
        const bool allowed = top_down[j] == follows_all ? std::ranges::any_of(above, is_positive)
                                                        : std::ranges::all_of(above, is_positive);
        if (!allowed) votes[j] = -1;
    }
}

}  // namespace

template <typename Rows>
void add_margins(const BoostingRounds& rounds, std::size_t first, std::size_t last,
                 const ParentRows& parents, const Rows& rows, unsigned n_threads,
                 StopSignal& signal, std::span<double> out) {
    const auto n_tasks = (rows.n_rows() + rows_per_task - 1) / rows_per_task;
    std::vector<Rows> own_rows(std::max(1u, n_threads), rows);
    parallel_for(n_threads, n_tasks, signal, [&](unsigned thread, std::size_t task) {
        Rows& row = own_rows[thread];
        std::vector<std::int8_t> votes(rounds.n_labels);
        const auto end = std::min(rows.n_rows(), (task + 1) * rows_per_task);
        for (auto i = task * rows_per_task; i < end; ++i) {
            signal.check();
            row.select(i);
            double* margins = out.data() + i * rounds.n_labels;
            for (auto round = first; round < last; ++round) {
                vote(rounds, round, row, votes);
                correct_top_down(parents, rounds.top_down.data() + round * rounds.n_labels, votes);
                const double alpha = rounds.alpha[round];
                for (std::size_t j = 0; j < rounds.n_labels; ++j) margins[j] += alpha * votes[j];
            }
        }
    });
}

template void add_margins(const BoostingRounds&, std::size_t, std::size_t, const ParentRows&,
                          const DenseRows<float>&, unsigned, StopSignal&, std::span<double>);
template void add_margins(const BoostingRounds&, std::size_t, std::size_t, const ParentRows&,
                          const DenseRows<double>&, unsigned, StopSignal&, std::span<double>);
template void add_margins(const BoostingRounds&, std::size_t, std::size_t, const ParentRows&,
                          const SparseCells&, unsigned, StopSignal&, std::span<double>);

}  // namespace ramify
