// The labels of one node in the smallest form that leaves every gain unchanged. Small nodes are
// where most of a tree's time goes; there most labels are constant, alone or copies of another.
#pragma once

#include <cstdint>
#include <vector>

#include "targets.hpp"

namespace ramify {

/// Which labels a criterion allows to leave out.
struct Compression {
    bool drop_constant;  // a label that every row has adds nothing to a gain
    bool fold_single;    // a label of one row adds a constant of that row (variance only)
    bool merge_copies;   // labels of the same rows act as one label with the sum of their weights
};

/// Labels are numbered anew from 0; an "entry" is a position in NodeRows.
struct NodeLabels {
    std::vector<std::uint32_t> indptr;  // per entry + 1
    std::vector<std::uint32_t> ids;     // the entry's labels, renumbered
    std::vector<double> label_weight;   // per renumbered label
    std::vector<double> label_total;    // per renumbered label: weight of the entries that have it
    std::vector<double> own;            // per entry: sum of w_c over its labels, folded ones too
    std::vector<double> cross;          // per entry: sum of w_c T_c over the same labels
    double weight = 0;                  // W: sum of the entries' weights, in row order
    double mass = 0;                    // sum_c w_c T_c
    double square = 0;                  // Q = sum_c w_c T_c^2

    std::size_t n_entries() const { return own.size(); }
    std::size_t n_local() const { return label_weight.size(); }
    /// Sum of squares around the mean vector: W times the HMC variance.
    double sum_of_squares() const { return weight > 0 ? mass - square / weight : 0; }
};

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
    void count(const NodeRows& rows);
    void number(std::size_t n_entries, NodeLabels& node);
    void forget();
    void fill(const NodeRows& rows, NodeLabels& node);
    std::uint32_t find_copy(std::size_t label);

    const Targets& targets_;
    Compression compression_;
    struct LabelCount {
        double total = 0;
        std::uint64_t signature = 0;  // sum of pseudo-random keys of the rows that have the label
        std::uint32_t n = 0;
        std::uint32_t local = 0;
    };
    std::vector<LabelCount> counts_;     // per label, zero outside a build
    std::vector<std::int32_t> touched_;  // labels with a row in the node
    std::vector<std::int32_t> slots_;    // hash table: signature -> label, -1 empty
    std::uint64_t slot_mask_ = 0;
    std::vector<LabelSum> sums_;
};

}  // namespace ramify
