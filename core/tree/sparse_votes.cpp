#include "tree/sparse_votes.hpp"

#include <algorithm>
#include <bit>

#include "common/top_labels.hpp"
#include "tree/row_votes.hpp"

namespace ramify {

namespace {

constexpr std::size_t rows_per_block = 32;

/// Sums of votes on one row at a time. Labels without a vote cost nothing: the sums of the labels
/// of a row are set back to 0 one by one.
class SparseSums {
  public:
    explicit SparseSums(std::size_t n_labels)
        : scores_(n_labels, 0.0), has_vote_((n_labels + 63) / 64, 0) {}

    void add(std::int32_t label, double share) {
        const auto l = static_cast<std::size_t>(label);
        const std::uint64_t bit = std::uint64_t{1} << (l % 64);
        if (!(has_vote_[l / 64] & bit)) {
            has_vote_[l / 64] |= bit;
            labels_.push_back(label);
        }
        scores_[l] += share;
    }

    /// Divides the sums, and limits them to 1, which rounding may exceed.
    void finish(double divisor) {
        for (const std::int32_t label : labels_) {
            double& score = scores_[static_cast<std::size_t>(label)];
            score = std::min(score / divisor, 1.0);
        }
    }

    void clear() {
        for (const std::int32_t label : labels_) {
            scores_[static_cast<std::size_t>(label)] = 0.0;
            has_vote_[static_cast<std::size_t>(label) / 64] = 0;
        }
        labels_.clear();
    }

    std::span<const double> scores() const { return scores_; }
    /// The labels with a vote, in any order.
    std::span<const std::int32_t> labels() const { return labels_; }

    /// The same in increasing order: sorted if they are few, otherwise read from the bits.
    std::span<const std::int32_t> sorted_labels() {
        if (labels_.size() * 8 < has_vote_.size()) {
            std::sort(labels_.begin(), labels_.end());
            return labels_;
        }
        labels_.clear();
        for (std::size_t w = 0; w < has_vote_.size(); ++w) {
            for (std::uint64_t bits = has_vote_[w]; bits != 0; bits &= bits - 1) {
                const auto l = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                labels_.push_back(static_cast<std::int32_t>(l));
            }
        }
        return labels_;
    }

  private:
    std::vector<double> scores_;
    std::vector<std::uint64_t> has_vote_;  // one bit per label
    std::vector<std::int32_t> labels_;
};

/// The scores of one row at a time, in the order of operations of `write_votes`.
template <typename Rows>
class RowVoter {
  public:
    RowVoter(const VotingTrees& voters, const Rows& rows)
        : voters_(voters), rows_(rows), sums_(voters.n_labels) {}

    SparseSums& vote(std::size_t row, StopSignal& signal) {
        sums_.clear();
        rows_.select(row);
        const auto n_trees = static_cast<double>(voters_.trees.size());
        const bool by_node = voters_.mixing == Mixing::by_node;
        for (const Tree* tree : voters_.trees) {
            add_row(*tree, rows_, voters_.mixing, by_node ? n_trees : 1.0, voters_.n_labels,
                    signal, stack_, sums_);
        }
        sums_.finish(by_node ? 1.0 : n_trees);
        return sums_;
    }

  private:
    VotingTrees voters_;
    Rows rows_;
    SparseSums sums_;
    std::vector<Part> stack_;
};

/// Calls visit(thread, block, begin, end) for all blocks of rows.
template <typename Visit>
void for_each_block(std::size_t n_rows, unsigned n_threads, StopSignal& signal, Visit visit) {
    parallel_for(n_threads, (n_rows + rows_per_block - 1) / rows_per_block, signal,
                 [&](unsigned thread, std::size_t block) {
                     signal.check();
                     visit(thread, block, block * rows_per_block,
                           std::min(n_rows, (block + 1) * rows_per_block));
                 });
}

struct Block {
    std::vector<std::int64_t> count;
    std::vector<std::int32_t> label;
    std::vector<double> score;
};

void append_row(SparseSums& sums, double least, Block& block) {
    const std::size_t before = block.label.size();
    for (const std::int32_t label : sums.sorted_labels()) {
        const double score = sums.scores()[static_cast<std::size_t>(label)];
        if (score > 0.0 && score >= least) {
            block.label.push_back(label);
            block.score.push_back(score);
        }
    }
    block.count.push_back(static_cast<std::int64_t>(block.label.size() - before));
}

/// Joins blocks, and frees each one as soon as it is copied.
SparseScores joined(std::vector<Block>& blocks) {
    std::size_t n_cells = 0;
    for (const Block& block : blocks) n_cells += block.label.size();
    SparseScores result;
    result.indptr.push_back(0);
    result.label.reserve(n_cells);
    result.score.reserve(n_cells);
    for (Block& block : blocks) {
        for (const std::int64_t n : block.count) result.indptr.push_back(result.indptr.back() + n);
        result.label.insert(result.label.end(), block.label.begin(), block.label.end());
        result.score.insert(result.score.end(), block.score.begin(), block.score.end());
        block = Block{};
    }
    return result;
}

}  // namespace

template <typename Rows>
SparseScores sparse_votes(const VotingTrees& voters, const Rows& rows, double least,
                          unsigned n_threads, StopSignal& signal) {
    std::vector<RowVoter<Rows>> workers(n_threads, RowVoter<Rows>(voters, rows));
    std::vector<Block> blocks((rows.n_rows() + rows_per_block - 1) / rows_per_block);
    for_each_block(rows.n_rows(), n_threads, signal,
                   [&](unsigned thread, std::size_t block, std::size_t begin, std::size_t end) {
                       for (std::size_t r = begin; r < end; ++r) {
                           append_row(workers[thread].vote(r, signal), least, blocks[block]);
                       }
                   });
    return joined(blocks);
}

template <typename Rows>
void top_votes(const VotingTrees& voters, const Rows& rows,
               std::span<const std::int32_t> candidates, std::size_t k, unsigned n_threads,
               StopSignal& signal, std::span<std::int32_t> label, std::span<double> score) {
    struct Worker {
        RowVoter<Rows> voter;
        TopLabels top;
    };
    std::vector<Worker> workers(n_threads,
                                Worker{{voters, rows}, {candidates, voters.n_labels, k}});
    for_each_block(rows.n_rows(), n_threads, signal,
                   [&](unsigned thread, std::size_t, std::size_t begin, std::size_t end) {
                       Worker& worker = workers[thread];
                       for (std::size_t r = begin; r < end; ++r) {
                           SparseSums& sums = worker.voter.vote(r, signal);
                           worker.top.choose(sums.scores(), sums.labels(), label.data() + r * k,
                                             score.data() + r * k);
                       }
                   });
}

template SparseScores sparse_votes(const VotingTrees&, const DenseRows<float>&, double, unsigned,
                                   StopSignal&);
template SparseScores sparse_votes(const VotingTrees&, const DenseRows<double>&, double, unsigned,
                                   StopSignal&);
template SparseScores sparse_votes(const VotingTrees&, const SparseCells&, double, unsigned,
                                   StopSignal&);
template void top_votes(const VotingTrees&, const DenseRows<float>&, std::span<const std::int32_t>,
                        std::size_t, unsigned, StopSignal&, std::span<std::int32_t>,
                        std::span<double>);
template void top_votes(const VotingTrees&, const DenseRows<double>&,
                        std::span<const std::int32_t>, std::size_t, unsigned, StopSignal&,
                        std::span<std::int32_t>, std::span<double>);
template void top_votes(const VotingTrees&, const SparseCells&, std::span<const std::int32_t>,
                        std::size_t, unsigned, StopSignal&, std::span<std::int32_t>,
                        std::span<double>);

}  // namespace ramify
