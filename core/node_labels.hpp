// The labels of one node in the smallest form that leaves every gain unchanged. Small nodes are
// where most of a tree's time goes; there most labels are constant, alone or copies of another.
#pragma once

#include <cstdint>
#include <vector>

#include "targets.hpp"

namespace ramify {

/// What a criterion allows to do to labels without changing its gains.
struct Compression {
    bool binary;       // impurity is a sum over labels that treats "has" and "has not" alike:
                       // labels that most rows have are turned round, those that all rows have
                       // are dropped, and labels of the same rows become one with the sum of
                       // their weights
    bool fold_single;  // a label of one row adds a constant of that row (variance only)
};

/// Labels are numbered anew from 0; an "entry" is a position in NodeRows.
struct NodeLabels {
    // The entry's labels, renumbered, filled up to a multiple of `block` with the number n_local()
    // whose steps are zero: loops over them are short, regular and seldom mispredicted.
    static constexpr std::size_t block = 4;
    std::vector<std::uint32_t> indptr;  // per entry + 1
    std::vector<std::uint32_t> ids;
    std::vector<double> step;          // per id: label weight times the entry's weight
    std::vector<double> label_weight;  // per renumbered label
    std::vector<double> label_total;   // per renumbered label: weight of the entries that have it
    std::vector<double> own;           // per entry: sum of w_c over its labels, folded ones too
    std::vector<double> cross;         // per entry: sum of w_c T_c over the same labels
    std::vector<double> single;        // per entry: sum of w_c over its folded labels
    double weight = 0;                 // W: sum of the entries' weights, in row order
    double mass = 0;                   // sum_c w_c T_c
    double square = 0;                 // Q = sum_c w_c T_c^2

    // Small nodes: gram[i, j] = v_i v_j sum of w_c over the labels both entries have, rows of
    // gram_stride cells; empty in nodes where a scan by labels is cheaper.
    std::vector<double> gram;
    std::size_t gram_stride = 0;

    std::size_t n_entries() const { return own.size(); }
    std::size_t n_local() const { return label_weight.size(); }
    /// Sum of squares around the mean vector: W times the HMC variance.
    double sum_of_squares() const { return weight > 0 ? mass - square / weight : 0; }
};

/// Fills node.gram if that pays for `n_scans` scans of numeric features.
void add_gram(const NodeRows& rows, std::size_t n_scans, NodeLabels& node);

/// A label of a node with the weight of the rows that have it.
struct LabelSum {
    std::int32_t label;
    double sum;
    double label_weight;
};

/// Builds NodeLabels at a cost of the node's positive labels; its arrays over all labels are never
/// cleared as a whole.
class NodeLabelsBuilder {
  public:
    NodeLabelsBuilder(const Targets& targets, Compression compression);
    void build(const NodeRows& rows, NodeLabels& node);
    /// The labels that occur, increasing; each sum is taken in row order.
    std::span<const LabelSum> sums(const NodeRows& rows);

  private:
    /// A label in the node at hand.
    struct LabelCount {
        double total = 0;
        std::uint64_t signature = 0;  // sum of pseudo-random keys of the rows that have the label
        std::uint32_t n = 0;
        std::uint32_t local = 0;
    };
    /// A label that most rows have, kept by the rows that lack it.
    struct Turned {
        double weight;
        double total;  // weight of the rows that lack it
        std::uint32_t local;
        std::uint32_t had_by;  // the last entry seen to have it
    };
    static constexpr std::uint32_t no_entry = 0xFFFFFFFFu;

    void count(const NodeRows& rows);
    void number(std::size_t n_entries, NodeLabels& node);
    std::uint32_t number_label(const LabelCount& seen, double weight, NodeLabels& node);
    void fill(const NodeRows& rows, NodeLabels& node);
    void forget();

    const Targets& targets_;
    Compression compression_;
    std::vector<LabelCount> counts_;     // per label, zero outside a build
    std::vector<std::int32_t> touched_;  // labels with a row in the node
    double weight_ = 0;                  // of all rows of the node
    std::uint64_t key_sum_ = 0;          // of all rows of the node
    std::vector<Turned> turned_;
    struct Slot {
        std::uint64_t signature;
        std::uint32_t n;  // 0: empty
        std::uint32_t local;
    };
    std::vector<Slot> slots_;  // hash table: rows of a label -> its number
    std::uint64_t slot_mask_ = 0;
    std::vector<LabelSum> sums_;
};

}  // namespace ramify
