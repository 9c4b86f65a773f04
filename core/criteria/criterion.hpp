// Impurity of a growing left side. A scan moves entries from right to left one at a time and asks
// for the gain; each criterion does so at the cost its formula allows.
//
// All scans share one shape:
//   reset(labels, weights)       a new node
//   begin(missing)               a new feature; `missing` are the entries whose value is unknown
//   move(entry)                  one entry crosses
//   sweep(items, ...)            all entries cross in order; a visitor sees every candidate
//   gain()                       impurity of the known entries minus that of both sides (a mass:
//                                weight times mean impurity)
//   begin_values(k, missing)     a new nominal feature, in place of begin()
//   add(value, entry)            sums per category
//   complete(value)              ends the sums; the category `value`, if there is such a one,
//                                was not added and has what the others leave
//   gain_with(v), take(v)        the same gain for left side + category v; v joins the left side
//   gain_of_all()                one branch per category
// "Left" is whatever has moved: gains are symmetric, so a scan may run from either end.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/simd.hpp"
#include "criteria/label_moves.hpp"
#include "criteria/node_labels.hpp"
#include "criteria/sweep.hpp"
#include "criteria/xlog2x.hpp"
#include "data/dataset.hpp"
#include "data/label_sums.hpp"

namespace ramify {

/// Sums over the first entries of a sweep, for each number of entries.
struct PrefixSums {
    std::vector<double> weight;
    std::vector<double> rows;
    std::vector<double> square;
    std::vector<double> cross;
    std::vector<double> gain;

    /// Sums up weights and rows; returns after how many items the rest grows too small.
    std::size_t weigh(std::span<const RankedEntry> items, std::span<const double> weights,
                      double known_weight, const SweepLimits& limits);
    /// The same where the weights are summed up already.
    std::size_t cut(std::span<const RankedEntry> items, double known_weight,
                    const SweepLimits& limits);
    /// The same for n entries of weight 1.
    std::size_t count(std::size_t n, double known_weight, const SweepLimits& limits);
    void make_room(std::size_t n);

    /// Shows the visitor the candidates among the first n places, once the gains are there.
    template <typename Visit>
    void show(std::span<const RankedEntry> items, std::size_t n, std::uint32_t next_rank,
              const SweepLimits& limits, Visit&& visit) const {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t next = k + 1 < items.size() ? items[k + 1].rank : next_rank;
            const double left = weight[k];
            if (next == items[k].rank || next == missing_rank || rows[k] < limits.min_rows ||
                left < limits.min_weight || left <= 0) {
                continue;
            }
            visit(k, next, gain[k], left);
        }
    }

  private:
    std::size_t counted_ = 0;  // the first weights and rows that are 1, 2, 3, ...
};

/// What every scan knows: weights of the known entries and of the left side.
class ScanBase {
  public:
    double known_weight() const { return known_weight_; }
    double left_weight() const { return left_weight_; }
    double value_weight(std::size_t value) const { return value_weight_[value]; }
    /// How many candidates the last sweep did not show, as others beat them.
    std::size_t n_passed_over() const { return n_passed_over_; }
    void pass_over(std::size_t n) { n_passed_over_ += n; }

  protected:
    void reset_base(const NodeLabels& labels, std::span<const double> weights) {
        labels_ = &labels;
        weights_ = weights;
    }
    /// The entry's labels without the fillers.
    std::span<const std::uint32_t> ids(std::uint32_t entry) const {
        const auto begin = labels_->indptr[entry];
        auto end = labels_->indptr[entry + 1];
        while (end > begin && labels_->ids[end - 1] >= labels_->n_local()) --end;
        return {labels_->ids.data() + begin, end - begin};
    }

    /// Gives category `value` the sums and the weight that all others leave of the known ones.
    void subtract_others(std::size_t value, const std::vector<double>& known,
                         std::vector<double>& sums, std::vector<double>& weights) const;

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    double known_weight_ = 0;
    double left_weight_ = 0;
    std::vector<double> value_weight_;
    std::size_t n_passed_over_ = 0;
};

/// Sum_c w_c p_c (1 - p_c): the HMC variance, and half the Gini index.
/// With class sums S (left), T (known), Q1 = sum w S^2, X = sum w T S:
///   gain = Q1/W1 + (Q - 2X + Q1)/W2 - Q/W,
/// and one entry changes Q1 and X at the cost of its own labels.
class VarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{true, true};
    static constexpr bool uses_kernel = true;
    static constexpr bool by_sets = false;
    static constexpr bool one_class = false;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    void reset(const NodeLabels& labels, std::span<const double> weights);
    void begin(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const { return gain_of(left_square_, left_cross_, left_weight_); }
    /// `worth(gain)`: whether a candidate could count whose gain is not above this one.
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&& worth, Visit&& visit);
    /// Weight times impurity of the known entries.
    double known_impurity() const { return known_mass_ - known_part_; }

    /// Sums over categories run in the order of the labels, which must not be compressed.
    void sum_categories_as_clus(std::size_t n_labels) {
        as_clus_ = true;
        n_labels_ = static_cast<double>(n_labels);
    }
    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    double gain_of(double square, double cross, double weight) const {
        const double rest = known_square_ - 2 * cross + square;
        return square / weight + rest / (known_weight_ - weight) - known_part_;
    }
    double square_with(std::size_t value) const;
    double gain_as_clus(std::size_t value) const;
    double value_square(std::size_t value) const;
    double known_cross(std::uint32_t entry) const;
    void begin_values_as_clus(std::size_t n_values, std::span<const std::uint32_t> missing);
    void complete_as_clus(std::size_t value);
    void multiply_by_labels();
    void forget_label_sums(std::size_t n_seen, std::size_t stride);
    void multiply_by_kernel();
    void leave_rest_to(std::size_t value);
    void begin_labels(std::span<const std::uint32_t> missing);
    void begin_kernel(std::span<const std::uint32_t> missing);
    void begin_weights(std::span<const std::uint32_t> missing);
    /// Moves items in order while enough is left, writes the sums after each of them, and returns
    /// how many have moved.
    std::size_t sum_up(std::span<const RankedEntry> items, const SweepLimits& limits);
    void move_by_kernel(std::span<const RankedEntry> items, double* square, double* cross);

    bool by_kernel_ = false;           // scan by the node's kernel instead of by labels
    bool as_clus_ = false;             // categories are summed up as CLUS does it
    double n_labels_ = 1;              // as CLUS: of all, also those that no entry has
    LabelMoves moves_;                 // numeric features, by labels
    std::vector<double> left_;         // by kernel: sum of left rows per entry; as CLUS: S_c
    std::vector<double> missing_;      // w_c S_c or that sum over entries with an unknown value
    std::vector<double> known_cross_;  // by kernel: its cross without those entries
    bool any_missing_ = false;
    PrefixSums prefix_;
    double known_square_ = 0;
    double known_part_ = 0;  // known_square_ / known_weight_
    double known_mass_ = 0;
    double left_square_ = 0;
    double left_cross_ = 0;
    struct Added {
        std::uint32_t value;
        std::uint32_t entry;
    };
    std::vector<Added> added_;            // who was added to which category
    std::vector<double> value_cross_;     // per category: sum of v times its entries' cross
    std::vector<double> value_products_;  // sum of v_i v_j [i, j] over two categories
    std::vector<double> left_products_;   // the same of the left side and a category
    // One row per category. By kernel: the sum of its entries' rows; as CLUS: S_vc of the labels.
    std::vector<double> value_sums_;
    std::vector<double> label_sums_;     // otherwise, one row per label: S_vc of the categories
    std::vector<double> label_weight_;   // per label and filler
    bool label_weights_listed_ = false;  // of the node at hand
    std::vector<double> met_;            // per pair of categories: entries times those before them
    std::vector<double> known_;          // as CLUS: T_c over the entries with a known value
};

template <typename Worth, typename Visit>
void VarianceScan::sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
                         const SweepLimits& limits, Worth&& worth, Visit&& visit) {
    // Pass by pass, each a plain loop: weights, Q1 and X, gains, and last the candidates.
    const std::size_t n = sum_up(items, limits);
    if (n == 0) return;
    write_gains({known_square_, known_weight_, known_part_}, n, prefix_.square.data(),
                prefix_.cross.data(), prefix_.weight.data(), prefix_.gain.data());
    if (!worth(largest(prefix_.gain.data(), n))) return;
    prefix_.show(items, n, next_rank, limits, visit);
}

/// Entropy in bits, weighted and summed.
/// exclusive = false: sum over labels of w_c times the binary entropy of p_c. The total weight
/// enters every label's term, so a gain costs the node's (renumbered) labels.
/// exclusive = true: one variable, one class per entry: -sum_c p_c log2 p_c; a gain costs O(1).
template <bool exclusive>
class EntropyScan : public ScanBase {
  public:
    static constexpr Compression compression{!exclusive, false};
    static constexpr bool uses_kernel = false;
    static constexpr bool by_sets = false;
    static constexpr bool one_class = exclusive;
    /// Weight times impurity of a set of rows.
    static double impurity_of(std::span<const LabelSum> sums, double weight);

    void reset(const NodeLabels& labels, std::span<const double> weights);
    void begin(std::span<const std::uint32_t> missing);
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
        // Candidates are listed first: their logarithms are cheaper all at once.
        candidates_.clear();
        std::conditional_t<exclusive, OneClass, OneLabel> one{*this};
        make_room(items.size());
        const auto list = [&](const auto& entries) {
            sweep_runs(items, next_rank, limits, entries, one,
                       [&](std::size_t k, std::uint32_t next, double, double left) {
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
        /// Notes what `write_gains` needs.
        double gain() {
            scan.positive_[scan.candidates_.size()] = positive;
            return 0;
        }
    };
    /// The same scan for one class per entry: sums change once for all entries of a class that
    /// cross one after the other.
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
        /// Notes what `write_gains` needs.
        double gain() {
            settle();
            scan.n_crossed_[scan.candidates_.size()] = n_crossed;
            return 0;
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
    /// For what a sweep of n entries notes.
    void make_room(std::size_t n);
    /// Gains of all candidates of a sweep, from what its mover has noted.
    void write_gains();
    void write_label_gains();
    void write_class_gains();
    void list_classes();

    /// Weight times entropy of a part; sum(c) gives its weight with label c.
    template <typename Sum>
    double impurity(Sum sum, double weight) const;
    const double* value_sums(std::size_t value) const {
        return value_sums_.data() + value * labels_->n_local();
    }

    XLog2X xlog2x_;
    std::vector<double> left_;   // per local label
    std::vector<double> known_;  // per local label, over the entries with a known value
    double known_impurity_ = 0;
    double left_terms_ = 0;           // exclusive: sum of x log2 x over the left side's classes
    double right_terms_ = 0;          // exclusive: the same for the right side
    std::vector<double> left_term_;   // exclusive: x log2 x per class
    std::vector<double> right_term_;  // exclusive: the same for the right side
    std::vector<double> node_term_;   // exclusive: the same for the node; empty: not known yet
    // A sweep's candidates, and what their gains are made of.
    struct Candidate {
        std::size_t k;
        std::uint32_t next;
        double left;
    };
    std::vector<Candidate> candidates_;
    std::vector<double> gains_;
    std::vector<double> positive_;        // one label: its weight on the left
    std::vector<std::size_t> n_crossed_;  // exclusive: how many crossings came before
    std::vector<std::int32_t> crossed_;   // exclusive, per crossing: the class
    std::vector<double> sides_;           // exclusive, per crossing: its weight left and right
    std::vector<double> terms_;           // numbers x, then x log2 x
    std::vector<double> value_sums_;
    std::vector<std::int32_t> classes_;  // per entry; empty: entries may have several labels
};

}  // namespace ramify
