// The labels of one node in the smallest form that leaves every gain unchanged. Most of the time
// is spent in small nodes, where most labels are constant, occur once or are copies of another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/scratch.hpp"
#include "criteria/kernel.hpp"
#include "data/targets.hpp"

namespace ramify {

/// What may be done to labels without changing the gains of a criterion.
struct Compression {
    bool binary = false;  // impurity is a sum over labels that treats "has" and "has not" alike:
                          // labels that most rows have are inverted, those that all rows have are
                          // dropped, and labels of the same rows are merged, their weights added
    bool fold_single = false;  // a label of one row becomes a constant of that row (variance only)
};

/// Labels are renumbered from 0; an "entry" is a position in NodeRows.
struct NodeLabels {
    // The renumbered labels of each entry, padded to a multiple of `block` with numbers from
    // n_local() on, of labels with weight zero. The fillers differ, so that a loop that adds to
    // its labels need not wait for the sum of the previous filler.
    static constexpr std::size_t block = 4;
    static constexpr std::size_t n_fillers = 16;
    std::vector<std::uint32_t> indptr;  // per entry + 1
    Scratch<std::uint32_t> ids;
    std::vector<double> label_weight;  // per renumbered label
    std::vector<double> label_total;   // per renumbered label: weight of the entries that have it
    std::vector<double> own;           // per entry: sum of w_c over its labels, folded ones too
    std::vector<double> cross;         // per entry: sum of w_c T_c over the same labels
    std::vector<double> single;        // per entry: sum of w_c over its folded labels
    std::size_t n_numbered = 0;  // entries of the node, this or above, that numbered the labels
    double weight = 0;           // W: sum of the entries' weights, in row order
    double mass = 0;             // sum_c w_c T_c
    double square = 0;           // Q = sum_c w_c T_c^2

    Kernel kernel;  // small nodes: used by scans in place of all this

    std::size_t n_entries() const { return own.size(); }
    std::size_t n_local() const { return label_weight.size(); }
    /// The labels of an entry without the fillers.
    std::span<const std::uint32_t> ids_of(std::uint32_t entry) const {
        const auto begin = indptr[entry];
        auto end = indptr[entry + 1];
        while (end > begin && ids[end - 1] >= n_local()) --end;
        return {ids.data() + begin, end - begin};
    }
    /// Number of ids in use: the array may be longer.
    std::size_t n_ids() const { return indptr.empty() ? 0 : indptr.back(); }
    /// Writes the labels' weights, and zeros for the fillers.
    void list_weights(std::vector<double>& weights) const {
        weights = label_weight;
        weights.resize(n_local() + n_fillers, 0.0);
    }
};

/// The labels of n rows of weight 1 in the form of the variance criterion. Trees grown on some of
/// these rows start from them, as they are fewer than the labels themselves.
NodeLabels number_labels(const Targets& targets, std::size_t n_rows);

/// Builds NodeLabels in two passes over the labels of the node's rows.
class NodeLabelsBuilder {
  public:
    NodeLabelsBuilder(const Targets& targets, Compression compression)
        : targets_(targets), compression_(compression) {}
    void build(const NodeRows& rows, NodeLabels& node);
    /// The same from the labels of the parent, which are fewer: labels dropped, folded or merged
    /// there stay so. above[e]: entry e in the parent.
    void build_below(const NodeLabels& parent, std::span<const std::uint32_t> above,
                     const NodeRows& rows, NodeLabels& node);

  private:
    /// A label in the current node; half a cache line, so that none straddles two.
    struct alignas(32) LabelCount {
        double total = 0;
        std::uint64_t signature = 0;  // sum of pseudo-random keys of the rows that have the label
        std::uint32_t n = 0;
    };
    /// The new number of a label, if it gets one, and what it adds to the sums of an entry that
    /// has it.
    struct alignas(32) LabelFate {
        double own = 0;
        double cross = 0;
        double single = 0;  // its weight, if it is folded
        std::uint32_t local = no_number;
        std::uint32_t turned = 0;  // its place among the inverted labels; 0: not inverted
    };
    /// The place of a numbered label in fates_ or, if it is inverted, in turned_.
    struct Owner {
        std::uint32_t place;
        bool turned;
    };
    static constexpr std::uint32_t no_number = 0xFFFFFFFFu;
    static constexpr std::uint32_t no_entry = 0xFFFFFFFFu;

    void carry_over(const NodeLabels& parent, std::span<const std::uint32_t> above,
                    const NodeRows& rows, NodeLabels& node);
    void sum_entries(const NodeLabels& parent, std::span<const std::uint32_t> above,
                     const NodeRows& rows, NodeLabels& node);
    template <typename Source>
    void build_from(const Source& source, const NodeRows& rows, NodeLabels& node);
    template <typename Source>
    void count(const Source& source, const NodeRows& rows);
    template <typename Source>
    void number(const Source& source, std::size_t n_entries, NodeLabels& node);
    LabelFate number_label(const LabelCount& seen, double weight, Owner owner, NodeLabels& node);
    void weigh_numbered(const NodeLabels& node);
    void make_room(std::size_t n_entries, NodeLabels& node) const;
    template <typename Source>
    void fill(const Source& source, const NodeRows& rows, NodeLabels& node);

    const Targets& targets_;
    Compression compression_;
    std::vector<LabelCount> counts_;  // per label of the source
    std::vector<LabelFate> fates_;    // likewise
    std::size_t n_listed_ = 0;        // labels of all rows of the node, as the source lists them
    double weight_ = 0;               // of all rows of the node
    std::uint64_t key_sum_ = 0;       // of all rows of the node
    // Labels that most rows have, stored by the rows that lack them; the first is a dummy.
    std::vector<LabelFate> turned_;
    std::vector<double> totals_;         // per label and filler, in carry_over()
    std::vector<std::uint32_t> had_by_;  // per turned label: the last entry seen to have it
    std::vector<Owner> owners_;          // per new number
    struct Slot {
        std::uint64_t signature;
        std::uint32_t n;  // 0: empty
        std::uint32_t local;
    };
    std::vector<Slot> slots_;  // hash table from the rows of a label to its number
    std::uint64_t slot_mask_ = 0;
};

}  // namespace ramify
