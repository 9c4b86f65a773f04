#include "tree/predict.hpp"

#include <algorithm>

#include "tree/descend.hpp"
#include "tree/row_votes.hpp"

namespace ramify {

void SparseCells::select(std::size_t row) {
    for (auto k = begin_; k < end_; ++k) cells_[static_cast<std::size_t>(X_.indices[k])] = 0.0;
    begin_ = static_cast<std::size_t>(X_.indptr[row]);
    end_ = static_cast<std::size_t>(X_.indptr[row + 1]);
    for (auto k = begin_; k < end_; ++k) {
        cells_[static_cast<std::size_t>(X_.indices[k])] = X_.data[k];
    }
}

template <typename Rows>
void add_predictions(const Tree& tree, Rows rows, Mixing mixing, double divisor,
                     std::size_t n_labels, StopSignal& signal, std::span<double> out) {
    std::vector<Part> stack;
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        signal.check();
        rows.select(r);
        DenseVotes votes{out.data() + r * n_labels};
        add_row(tree, rows, mixing, divisor, n_labels, signal, stack, votes);
    }
}

template <typename Rows>
void write_votes(std::span<const Tree* const> trees, const Rows& rows, Mixing mixing,
                 std::size_t n_labels, std::span<const std::uint8_t> voters, unsigned n_threads,
                 StopSignal& signal, std::span<double> out) {
    constexpr std::size_t block = 32;
    const std::size_t n_rows = rows.n_rows();
    const auto votes = [&](std::size_t t, std::size_t r) {
        return voters.empty() || voters[t * n_rows + r] != 0;
    };
    struct Worker {
        Rows rows;
        std::vector<Part> stack;
    };
    std::vector<Worker> workers(n_threads, Worker{rows, {}});
    const auto write_row = [&](Worker& worker, std::size_t r) {
        double n_voters = 0;
        for (std::size_t t = 0; t < trees.size(); ++t) n_voters += votes(t, r);
        if (n_voters == 0) return;
        worker.rows.select(r);
        double* scores = out.data() + r * n_labels;
        std::fill_n(scores, n_labels, 0.0);
        DenseVotes sums{scores};
        const double divisor = mixing == Mixing::by_node ? n_voters : 1.0;
        for (std::size_t t = 0; t < trees.size(); ++t) {
            if (!votes(t, r)) continue;
            add_row(*trees[t], worker.rows, mixing, divisor, n_labels, signal, worker.stack, sums);
        }
        if (mixing == Mixing::by_node) return;
        for (std::size_t c = 0; c < n_labels; ++c) scores[c] /= n_voters;
    };
    parallel_for(n_threads, (n_rows + block - 1) / block, signal,
                 [&](unsigned thread, std::size_t b) {
                     signal.check();
                     const std::size_t end = std::min(n_rows, (b + 1) * block);
                     for (std::size_t r = b * block; r < end; ++r) write_row(workers[thread], r);
                 });
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
