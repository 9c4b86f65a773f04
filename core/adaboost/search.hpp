// The weak hypothesis of a round: a small tree per label, or one tree shared by all labels.
#pragma once

#include <array>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "adaboost/cells.hpp"
#include "adaboost/columns.hpp"
#include "adaboost/rough.hpp"
#include "adaboost/scan.hpp"
#include "common/parallel.hpp"

namespace ramify {

/// Maps labels to lanes of blocks. Every level of the hierarchy starts a new block, so that levels
/// can be processed one after the other; the last block of a level is padded with no_label.
class LabelLayout {
  public:
    static constexpr std::size_t no_label = static_cast<std::size_t>(-1);
    /// Parents have smaller numbers than their children.
    explicit LabelLayout(std::vector<std::vector<std::uint32_t>> parents);

    std::size_t n_labels() const { return parents_.size(); }
    std::size_t n_blocks() const { return label_.size() / label_lanes; }
    /// The first block of each level of the hierarchy, and the number of blocks.
    std::span<const std::size_t> level_blocks() const { return level_blocks_; }
    std::size_t lane(std::size_t label) const { return lane_[label]; }  // counted over all blocks
    std::size_t label(std::size_t lane) const { return label_[lane]; }
    const std::vector<std::uint32_t>& parents(std::size_t label) const { return parents_[label]; }

  private:
    std::vector<std::vector<std::uint32_t>> parents_;
    std::vector<std::size_t> lane_;
    std::vector<std::size_t> label_;
    std::vector<std::size_t> level_blocks_{0};
};

/// Cells of all rows in blocks of label_lanes labels; cells of padding lanes are 0.
class LabelBlocks {
  public:
    LabelBlocks(std::size_t n_rows, std::size_t n_blocks);
    std::size_t n_blocks() const { return n_blocks_; }
    double* block(std::size_t b) { return cells_.get() + b * n_rows_ * label_lanes; }
    const double* block(std::size_t b) const { return cells_.get() + b * n_rows_ * label_lanes; }
    std::size_t place(std::size_t row, std::size_t lane) const {
        return (lane / label_lanes * n_rows_ + row) * label_lanes + lane % label_lanes;
    }
    double& operator[](std::size_t place) { return cells_[place]; }
    double operator[](std::size_t place) const { return cells_[place]; }
    std::size_t size() const { return n_blocks_ * n_rows_ * label_lanes; }

  private:
    static constexpr std::align_val_t cache_line{64};
    struct Free {
        void operator()(double* cells) const { ::operator delete[](cells, cache_line); }
    };
    std::size_t n_rows_;
    std::size_t n_blocks_;
    std::unique_ptr<double[], Free> cells_;
};

/// Where the vote for a label is negative because of those for its parents.
enum FollowsParents : std::uint8_t {
    follows_none = 0,
    follows_each = 1,  // where any of them is negative
    follows_all = 2,   // where all of them are negative
};

/// Complete trees of the same depth: node k of a level has the children 2k (left) and 2k + 1
/// (right).
struct WeakHypothesis {
    std::size_t depth = 1;
    std::size_t n_tested = 0;            // tests per node: one per label, or one for all labels
    std::vector<BoostingTest> tests;     // node k of level v: from (2^v - 1 + k) * n_tested on
    std::vector<std::int8_t> signs;      // leaf k: from k * n_labels on
    std::vector<std::uint8_t> top_down;  // per label: a FollowsParents

    std::size_t n_nodes() const { return (std::size_t{1} << depth) - 1; }
    std::size_t n_leaves() const { return std::size_t{1} << depth; }
};

/// The input of a search.
struct WeakProblem {
    std::span<const BoostingColumn> columns;
    const LabelLayout& layout;
    const LabelBlocks& cells;
    std::size_t n_rows;
    std::size_t depth;  // at most 8
    /// For each label, whether to choose between the best tree and the best tree among those that
    /// vote -1 wherever a parent does. Parents must have voted before their children learn.
    bool best_of_two = false;
    /// What a tree that depends on the parents follows.
    FollowsParents follows = follows_each;
};

/// For some rows, the labels of a block whose parents allow a vote of +1: whose marks are set, by
/// block and row.
std::vector<LabelBits> allowed_by_parents(const LabelLayout& layout, std::size_t n_rows,
                                          std::size_t block, std::size_t begin, std::size_t end,
                                          std::span<const LabelBits> marks,
                                          FollowsParents follows);

/// Cells of one block that are written as a whole.
class BlockCells {
  public:
    double* make_room(std::size_t n_rows) {
        rows_.make_room(n_rows);
        return rows_.data()->cell;
    }

  private:
    struct alignas(64) Row {
        double cell[label_lanes];
    };
    Scratch<Row> rows_;
};

/// Memory that a thread keeps from block to block.
struct BlockScratch {
    BlockCells inside;  // cells of the rows whose parents allow a positive vote
    BlockCells masked;  // cells of the rows of a node
    RoughCells rough;
    std::vector<LaneBounds> bounds;  // per column
};

/// A hypothesis without tests, with one tree per label or one for all labels.
WeakHypothesis empty_hypothesis(std::size_t depth, std::size_t n_labels, bool shared);

/// Grows a tree for every label of a block, choosing the test with the largest edge in each node,
/// and writes the votes of all training rows by block and row: bits that are set are +1, others
/// -1. With best_of_two, the trees of each label whose edge is larger are kept.
void learn_block(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                 BlockScratch& scratch, WeakHypothesis& found, std::span<LabelBits> votes);

/// The same with one tree for all labels, whose tests have the largest sum of edges. Leaves vote
/// for each label separately.
void learn_shared(const WeakProblem& problem, unsigned n_threads, StopSignal& signal,
                  WeakHypothesis& found, std::span<LabelBits> votes);

}  // namespace ramify
