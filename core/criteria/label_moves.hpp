// The inner loop of tree growing: entries move to the left side one after the other, at the cost
// of their labels. The number of labels differs from entry to entry, so that a loop over the
// labels of each would be mispredicted once per entry, which costs as much as its labels. Entries
// are therefore first listed as blocks of a fixed number of labels, without branches, and all
// blocks are then moved in one loop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/scratch.hpp"
#include "criteria/node_labels.hpp"
#include "data/dataset.hpp"

namespace ramify {

/// Q1 = sum w S^2 and X = sum w T S while entries move, see VarianceScan.
class LabelMoves {
  public:
    /// A new node.
    void reset(const NodeLabels& labels, std::span<const double> weights);
    /// A new feature: nothing has moved. `missing`: per label, w_c times the weight of the entries
    /// with a missing value that have it; null if no value is missing.
    void begin(const double* missing);
    /// Lists items in the order in which they will move, with the weight of the first k + 1 of
    /// them and what each of these adds by itself.
    void list(std::span<const RankedEntry> items, double* weight, double* square, double* cross);
    /// Moves the first n items of the list: square[k] and cross[k] become all that they add, and
    /// met[k], if values are missing, sum w S M over the labels.
    void move_listed(std::size_t n, double* square, double* cross, double* met);

  private:
    /// What a scan needs of an entry, in one cache line.
    struct alignas(32) Part {
        double weight;
        double square;        // what it adds to Q1 alone
        double cross;         // what it adds to X where all values are known
        std::uint32_t first;  // of its blocks
        std::uint32_t n_blocks;
    };

    void prepare();
    template <bool unit, bool any_missing>
    void move_blocks(std::size_t n_blocks);

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    bool prepared_ = false;  // whether what follows belongs to the current node
    const double* missing_ = nullptr;
    bool unit_ = false;                 // every entry has weight 1
    Scratch<Part> parts_;               // per entry
    std::vector<double> label_weight_;  // per label and filler
    std::vector<double> left_;          // per label and filler: w_c S_c
    Scratch<std::uint32_t> block_;      // of the items, in order
    Scratch<double> block_weight_;      // per block of the node: that of its entry
    Scratch<std::uint32_t> end_;        // per item: blocks so far
    Scratch<double> sum_;               // per block, from 1: sum of v w S over the blocks so far
    Scratch<double> missing_sum_;       // the same of v w M
};

}  // namespace ramify
