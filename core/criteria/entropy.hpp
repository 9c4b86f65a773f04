// Entropy of labels, or of one class variable.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "criteria/scan.hpp"
#include "criteria/xlog2x.hpp"
#include "data/label_sums.hpp"

namespace ramify {

/// Entropy in bits, weighted and summed.
/// exclusive = false: sum over labels of w_c times the binary entropy of p_c. The total weight
/// enters the term of every label, so that a gain costs all (renumbered) labels of the node. Terms
/// of whole numbers come from a table, others are computed for several labels at once.
/// exclusive = true: one variable, one class per entry: -sum_c p_c log2 p_c; a gain costs O(1).
template <bool exclusive>
class EntropyScan : public ScanBase {
  public:
    static constexpr Compression compression{!exclusive, false};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = true;
    static constexpr bool one_class = exclusive;
    static constexpr bool sweeps_both = false;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    explicit EntropyScan(const Targets&) {}

    void reset(const NodeRows& rows, const NodeLabels& labels);
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const;
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&&, Visit&& visit) {
        n_passed_over_ = 0;
        if (!limits.by_gain || classes_.empty()) {
            sweep_items(items, next_rank, limits, *this, visit);
            return;
        }
        // Candidates are listed first: it is faster to compute their logarithms all at once.
        candidates_.clear();
        std::conditional_t<exclusive, OneClass, OneLabel> one{*this};
        make_room(items.size());
        const auto list = [&](const auto& entries) {
            sweep_runs(items, next_rank, limits, entries, one,
                       [&](std::size_t k, std::uint32_t next, double left) {
                           candidates_.push_back({k, next, left});
                       });
        };
        if (limits.unit) {
            list(UnitEntries{});
        } else if (limits.by_part) {
            list(PartEntries{limits.part});
        } else {
            list(WeightedEntries{weights_.data(), limits.part});
        }
        write_gains();
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const auto& c = candidates_[i];
            visit(c.k, c.next, gains_[i], c.left);
        }
    }
    double known_impurity() const { return known_impurity_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    /// The same scan for a node with a single label: two sums, and no label lists.
    struct OneLabel {
        EntropyScan& scan;
        double left = 0;
        double positive = 0;

        std::int32_t class_of(std::uint32_t entry) const { return scan.classes_[entry]; }
        void cross(std::int32_t kind, double weight) {
            left += weight;
            positive += kind < 0 ? 0.0 : weight;
        }
        double left_weight() const { return left; }
        double known_weight() const { return scan.known_weight_; }
        void pass_over(std::size_t n) { scan.pass_over(n); }
        /// Records what `write_gains` needs of the next candidate.
        void record() { scan.positive_[scan.candidates_.size()] = positive; }
    };
    /// The same scan for one class per entry: sums change once for consecutive entries of a class.
    struct OneClass {
        EntropyScan& scan;
        double left = 0;
        std::int32_t crossing = -1;  // the class whose entries are not in the sums yet
        double waiting = 0;          // their weight
        std::size_t n_crossed = 0;

        std::int32_t class_of(std::uint32_t entry) const { return scan.classes_[entry]; }
        void cross(std::int32_t kind, double weight) {
            if (kind != crossing) settle();
            crossing = kind;
            waiting += weight;
            left += weight;
        }
        void settle() {
            if (waiting <= 0) return;
            const auto id = static_cast<std::size_t>(crossing);
            scan.left_[id] += waiting;
            scan.crossed_[n_crossed] = crossing;
            scan.sides_[2 * n_crossed] = scan.left_[id];
            scan.sides_[2 * n_crossed + 1] = scan.known_[id] - scan.left_[id];
            ++n_crossed;
            waiting = 0;
        }
        double left_weight() const { return left; }
        double known_weight() const { return scan.known_weight_; }
        void pass_over(std::size_t n) { scan.pass_over(n); }
        /// Records what `write_gains` needs of the next candidate.
        void record() {
            settle();
            scan.n_crossed_[scan.candidates_.size()] = n_crossed;
        }
    };
    void move_class(std::size_t id, double weight) {
        left_[id] += weight;
        set_terms(id, xlog2x_(left_[id]), xlog2x_(known_[id] - left_[id]));
    }
    /// Exclusive: x log2 x of a class's weight on either side.
    void set_terms(std::size_t id, double left, double right) {
        left_terms_ += left - left_term_[id];
        right_terms_ += right - right_term_[id];
        left_term_[id] = left;
        right_term_[id] = right;
    }
    void begin_terms(bool whole_node);
    /// Reserves memory for what a sweep of n entries records.
    void make_room(std::size_t n);
    /// Gains of all candidates of a sweep, from what its mover has recorded.
    void write_gains();
    void write_label_gains();
    void write_class_gains();
    void list_classes();
    /// Sums of the entries with a value, from those of the node and the missing entries.
    void set_known(std::span<const std::uint32_t> missing);
    /// Number of sums: of each label or, as in CLUS, also of the entries without it.
    std::size_t width() const { return (sums_both_ ? 2 : 1) * labels_->n_local(); }
    /// Adds the entry's weight to either sum of every label.
    void add_both(std::uint32_t entry, double* sums);

    /// Weight times entropy of a part; sum(c) gives its weight with label c.
    template <typename Sum>
    double impurity(Sum sum, double weight) const;
    const double* value_sums(std::size_t value) const {
        return value_sums_.data() + value * width();
    }

    XLog2X xlog2x_;
    LabelEntropies entropies_;  // the left side in place of left_, if at_once_
    bool at_once_ = false;
    bool sums_both_ = false;     // sums of the entries without a label follow those with it
    std::vector<double> left_;   // per local label
    std::vector<double> known_;  // per local label, over the entries with a known value
    std::vector<double> node_;   // both sums, over all entries
    std::vector<char> has_;      // scratch: per local label, whether the entry has it
    double known_impurity_ = 0;
    double left_terms_ = 0;           // exclusive: sum of x log2 x over the left side's classes
    double right_terms_ = 0;          // exclusive: the same for the right side
    std::vector<double> left_term_;   // exclusive: x log2 x per class
    std::vector<double> right_term_;  // exclusive: the same for the right side
    std::vector<double> node_term_;   // exclusive: the same for the node; empty: not computed
    // The candidates of a sweep, and the terms of their gains.
    struct Candidate {
        std::size_t k;
        std::uint32_t next;
        double left;
    };
    std::vector<Candidate> candidates_;
    std::vector<double> gains_;
    std::vector<double> positive_;        // one label: its weight on the left
    std::vector<std::size_t> n_crossed_;  // exclusive: number of crossings before
    std::vector<std::int32_t> crossed_;   // exclusive, per crossing: the class
    std::vector<double> sides_;           // exclusive, per crossing: its weight left and right
    std::vector<double> terms_;           // numbers x, then x log2 x
    std::vector<double> value_sums_;
    std::vector<std::int32_t> classes_;  // per entry; empty: entries may have several labels
};

static_assert(Scan<EntropyScan<false>> && Scan<EntropyScan<true>>);

}  // namespace ramify
