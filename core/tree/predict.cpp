#include "tree/predict.hpp"

#include <algorithm>
#include <array>

#include "tree/descend.hpp"
#include "tree/row_votes.hpp"
#include "tree/walk.hpp"

namespace ramify {

void SparseCells::select(std::size_t row) {
    for (auto k = begin_; k < end_; ++k) cells_[static_cast<std::size_t>(X_.indices[k])] = 0.0;
    begin_ = static_cast<std::size_t>(X_.indptr[row]);
    end_ = static_cast<std::size_t>(X_.indptr[row + 1]);
    for (auto k = begin_; k < end_; ++k) {
        cells_[static_cast<std::size_t>(X_.indices[k])] = X_.data[k];
    }
}

namespace {

/// The trees that vote, some at a time: the memory of their walks is limited.
constexpr std::size_t most_steps = std::size_t{1} << 21;
/// A walk takes as long to make as a row needs for about as many tests.
constexpr std::size_t steps_per_row = 32;

/// Whether the cells of all rows can be read at any time.
template <typename Rows>
concept has_cells = requires(const Rows& rows) { rows.cell(std::size_t{}, std::size_t{}); };

/// Adds the votes of trees to the scores of neighbouring rows. One per thread.
template <typename Rows>
class BlockVoter {
  public:
    BlockVoter(const Rows& rows, Mixing mixing, std::size_t n_labels, std::span<double> out)
        : rows_(rows), mixing_(mixing), n_labels_(n_labels), out_(out) {}

    /// `divisor(tree, row)` is 0 for rows that a tree does not vote on.
    template <typename Divisor>
    void vote(std::span<const Tree* const> trees, std::span<const Walk> walks, std::size_t begin,
              std::size_t end, const Divisor& divisor, StopSignal& signal) {
        if constexpr (has_cells<Rows>) {
            for (std::size_t t = 0; t < walks.size(); ++t) {
                signal.check();
                vote_together(
                    *trees[t], walks[t], begin, end, [&](std::size_t r) { return divisor(t, r); },
                    signal);
            }
        }
        if (!walks.empty()) return;
        for (std::size_t r = begin; r < end; ++r) {
            signal.check();
            rows_.select(r);
            DenseVotes votes = votes_of(r);
            for (std::size_t t = 0; t < trees.size(); ++t) {
                const double by = divisor(t, r);
                if (by == 0) continue;
                add_row(*trees[t], rows_, mixing_, by, n_labels_, signal, stack_, votes);
            }
        }
    }

  private:
    template <typename Divisor>
    void vote_together(const Tree& tree, const Walk& walk, std::size_t begin, std::size_t end,
                       const Divisor& divisor, StopSignal& signal) {
        ends_.resize(end - begin);
        walk.descend_together(tree, rows_, begin, ends_);
        const auto way = [&](std::size_t from, const Rows& row) {
            return walk.descend(tree, from, row);
        };
        for (std::size_t r = begin; r < end; ++r) {
            const std::size_t node = ends_[r - begin];
            const double by = divisor(r);
            if (by == 0) continue;
            DenseVotes votes = votes_of(r);
            if (tree.feature[node] < 0) {
                add_whole(tree, node, by, votes);
                continue;
            }
            rows_.select(r);
            if (mixing_ == Mixing::by_leaf) {
                mix_by_leaf(tree, rows_, way, by, stack_, votes);
            } else {
                BranchMixer(tree, rows_, signal).add(by, n_labels_, votes);
            }
        }
    }

    DenseVotes votes_of(std::size_t row) const { return {out_.data() + row * n_labels_}; }

    Rows rows_;
    Mixing mixing_;
    std::size_t n_labels_;
    std::span<double> out_;
    std::vector<Part> stack_;
    std::vector<std::uint32_t> ends_;  // per row of the block: its leaf, or a test that divides it
};

/// Walks of some trees, in parallel; none if the rows are sparse or too few to pay for them.
template <typename Rows>
std::vector<Walk> make_walks(std::span<const Tree* const> trees, std::size_t n_rows,
                             unsigned n_threads, StopSignal& signal) {
    if constexpr (!has_cells<Rows>) return {};
    std::size_t n_steps = 0;
    for (const Tree* tree : trees) n_steps += tree->n_nodes();
    if (n_steps > n_rows * trees.size() * steps_per_row) return {};
    std::vector<Walk> walks(trees.size());
    parallel_for(n_threads, trees.size(), signal,
                 [&](unsigned, std::size_t t) { walks[t] = Walk(*trees[t]); });
    return walks;
}

/// How many of the next trees have walks that fit into memory together, at least one.
std::size_t count_together(std::span<const Tree* const> trees) {
    std::size_t n = 1;
    for (std::size_t steps = trees[0]->n_nodes(); n < trees.size(); ++n) {
        steps += trees[n]->n_nodes();
        if (steps > most_steps) break;
    }
    return n;
}

/// Many rows, so that a tree stays in a cache while they go through it, but not so many that their
/// scores do not, or that threads have nothing to do.
std::size_t rows_per_block(std::size_t n_rows, std::size_t n_labels, unsigned n_threads) {
    constexpr std::size_t cells = std::size_t{1} << 15;
    const std::size_t shared = n_threads > 1 ? n_rows / (4 * n_threads) : n_rows;
    const std::size_t cached = cells / std::max<std::size_t>(n_labels, 1);
    return std::clamp<std::size_t>(std::min(shared, cached), 32, 4096);
}

}  // namespace

template <typename Rows>
void add_predictions(const Tree& tree, Rows rows, Mixing mixing, double divisor,
                     std::size_t n_labels, StopSignal& signal, std::span<double> out) {
    const std::array<const Tree*, 1> trees{&tree};
    const std::size_t n_rows = rows.n_rows();
    const auto walks = make_walks<Rows>(trees, n_rows, 1, signal);
    BlockVoter<Rows> voter(rows, mixing, n_labels, out);
    constexpr std::size_t block = 32;
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        signal.check();
        voter.vote(
            trees, walks, begin, std::min(n_rows, begin + block),
            [&](std::size_t, std::size_t) { return divisor; }, signal);
    }
}

template <typename Rows>
void write_votes(std::span<const Tree* const> trees, const Rows& rows, Mixing mixing,
                 std::size_t n_labels, std::span<const std::uint8_t> voters, unsigned n_threads,
                 StopSignal& signal, std::span<double> out) {
    const std::size_t n_rows = rows.n_rows();
    const std::size_t block = rows_per_block(n_rows, n_labels, n_threads);
    const auto votes = [&](std::size_t t, std::size_t r) {
        return voters.empty() || voters[t * n_rows + r] != 0;
    };
    std::vector<double> n_voters(n_rows, 0);
    for (std::size_t t = 0; t < trees.size(); ++t) {
        for (std::size_t r = 0; r < n_rows; ++r) n_voters[r] += votes(t, r);
    }
    for (std::size_t r = 0; r < n_rows; ++r) {
        if (n_voters[r] > 0) std::fill_n(out.data() + r * n_labels, n_labels, 0.0);
    }
    std::vector<BlockVoter<Rows>> workers(n_threads, {rows, mixing, n_labels, out});
    for (std::size_t first = 0; first < trees.size();) {
        const std::size_t n = count_together(trees.subspan(first));
        const auto together = trees.subspan(first, n);
        const auto walks = make_walks<Rows>(together, n_rows, n_threads, signal);
        parallel_for(n_threads, (n_rows + block - 1) / block, signal,
                     [&](unsigned thread, std::size_t b) {
                         const auto divisor = [&](std::size_t t, std::size_t r) {
                             if (!votes(first + t, r)) return 0.0;
                             return mixing == Mixing::by_node ? n_voters[r] : 1.0;
                         };
                         const std::size_t end = std::min(n_rows, (b + 1) * block);
                         workers[thread].vote(together, walks, b * block, end, divisor, signal);
                     });
        first += n;
    }
    if (mixing == Mixing::by_node) return;
    for (std::size_t r = 0; r < n_rows; ++r) {
        if (n_voters[r] == 0) continue;
        double* scores = out.data() + r * n_labels;
        for (std::size_t c = 0; c < n_labels; ++c) scores[c] /= n_voters[r];
    }
}

template <typename Rows>
void find_leaves(const Tree& tree, Rows rows, StopSignal& signal, std::span<std::int32_t> leaf) {
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        if (r % 16 == 0) signal.check();
        rows.select(r);
        auto node = descend(tree, 0, rows);
        while (tree.feature[node] >= 0) {
            const auto begin = tree.share.begin() + tree.child_indptr[node];
            const auto end = tree.share.begin() + tree.child_indptr[node + 1];
            const auto largest = static_cast<std::int32_t>(std::max_element(begin, end) - begin);
            node = descend(tree, child_of(tree, node, largest), rows);
        }
        leaf[r] = static_cast<std::int32_t>(node);
    }
}

template void add_predictions(const Tree&, DenseRows<float>, Mixing, double, std::size_t,
                              StopSignal&, std::span<double>);
template void add_predictions(const Tree&, DenseRows<double>, Mixing, double, std::size_t,
                              StopSignal&, std::span<double>);
template void add_predictions(const Tree&, SparseCells, Mixing, double, std::size_t, StopSignal&,
                              std::span<double>);
template void write_votes(std::span<const Tree* const>, const DenseRows<float>&, Mixing,
                          std::size_t, std::span<const std::uint8_t>, unsigned, StopSignal&,
                          std::span<double>);
template void write_votes(std::span<const Tree* const>, const DenseRows<double>&, Mixing,
                          std::size_t, std::span<const std::uint8_t>, unsigned, StopSignal&,
                          std::span<double>);
template void write_votes(std::span<const Tree* const>, const SparseCells&, Mixing, std::size_t,
                          std::span<const std::uint8_t>, unsigned, StopSignal&, std::span<double>);
template void find_leaves(const Tree&, DenseRows<float>, StopSignal&, std::span<std::int32_t>);
template void find_leaves(const Tree&, DenseRows<double>, StopSignal&, std::span<std::int32_t>);
template void find_leaves(const Tree&, SparseCells, StopSignal&, std::span<std::int32_t>);

}  // namespace ramify
