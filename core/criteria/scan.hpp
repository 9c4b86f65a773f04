// What all criteria have in common: a scan moves the entries of a node from the right side of a
// test to the left, one at a time, and computes the gain at the cost that its formula allows.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "criteria/node_labels.hpp"
#include "criteria/sweep.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"

namespace ramify {

/// Of the entries of a node: the weighted sum of squares about the mean, and what dividing them
/// into those with a missing value and the others removes of it.
struct SquaredSums {
    double removed;
    double whole;
};

/// The impurity of a growing left side. "Left" is whatever has moved: gains are symmetric, so that
/// a scan may run from either end. A gain is the impurity of the known entries (those without a
/// missing value) minus that of both sides, each times its weight.
template <typename S>
concept Scan = requires(S scan, const S& done, const Targets& targets, const NodeRows& rows,
                        const NodeLabels& labels, std::span<const std::uint32_t> missing,
                        std::uint32_t entry, std::span<const RankedEntry> items,
                        std::uint32_t next_rank, const SweepLimits& limits, bool (*worth)(double),
                        void (*visit)(std::size_t, std::uint32_t, double, double),
                        std::size_t category, std::span<const std::uint32_t> categories) {
    { S::compression } -> std::convertible_to<Compression>;  // what may be done to the labels
    { S::uses_kernel } -> std::convertible_to<bool>;         // of Kernel
    { S::uses_labels } -> std::convertible_to<bool>;         // NodeLabels
    { S::one_class } -> std::convertible_to<bool>;           // each row has exactly one label
    // Whether it has sweep_both() and gain_of_missing(), see VarianceScan.
    { S::sweeps_both } -> std::convertible_to<bool>;
    S(targets);
    scan.follow_clus();
    // A new node.
    scan.reset(rows, labels);
    // A new feature; `missing` are the entries whose value is missing.
    scan.begin(missing);
    { done.known_weight() } -> std::same_as<double>;
    { done.known_impurity() } -> std::same_as<double>;  // times weight
    // Sums of squares whatever the criterion, as they follow the F distribution. Where
    // sweeps_both, this is a begin(missing) too.
    { scan.squares_of(missing) } -> std::same_as<SquaredSums>;
    // Moves one entry, or all items in order: visit(k, next rank, gain, left weight) sees every
    // candidate for which worth(an upper bound of its gain) holds.
    scan.move(entry);
    scan.sweep(items, next_rank, limits, worth, visit);
    { done.n_passed_over() } -> std::same_as<std::size_t>;  // candidates not shown
    { done.left_weight() } -> std::same_as<double>;
    { done.gain() } -> std::same_as<double>;
    // A new nominal feature, in place of begin(); sums per category. complete(c) ends the sums;
    // category c, if there is one of that index, was not added and gets what the others leave.
    scan.begin_values(category, missing);
    scan.add(category, entry);
    scan.complete(category);
    { done.value_weight(category) } -> std::same_as<double>;
    // The gain if a category joined the left side; the category joins it; the gain of a test with
    // one branch per category. Where there is clus_score_with(category), it is the score with the
    // operations of CLUS: of categories that divide a node alike, CLUS takes a later one if its
    // score comes out larger.
    { done.gain_with(category) } -> std::same_as<double>;
    scan.take(category);
    { done.gain_of_all(categories) } -> std::same_as<double>;
};

/// Of a test that must not be used.
inline constexpr double no_gain = -std::numeric_limits<double>::infinity();

/// An entry with its category of a nominal feature.
struct CategoryEntry {
    std::uint32_t category;
    std::uint32_t entry;
};

/// Sums over the first entries of a sweep, for each number of entries.
struct PrefixSums {
    std::vector<double> weight;
    std::vector<double> rows;
    std::vector<double> square;
    std::vector<double> cross;
    std::vector<double> gain;
    std::vector<double> met;        // see VarianceMissing, if values are missing
    std::vector<double> gain_with;  // the gain if the missing values had moved before

    /// Sums up weights and rows; returns after how many items the right side becomes too small.
    std::size_t weigh(std::span<const RankedEntry> items, std::span<const double> weights,
                      double known_weight, const SweepLimits& limits);
    /// The same if the weights have been summed up already.
    std::size_t cut(std::span<const RankedEntry> items, double known_weight,
                    const SweepLimits& limits);
    /// The same for n entries of weight 1.
    std::size_t count(std::size_t n, double known_weight, const SweepLimits& limits);
    void make_room(std::size_t n);

    /// Shows the visitor the candidates among the first n places; requires the gains.
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
    /// After how many of n items the right side becomes too small if `weight_before` and
    /// limits.moved_rows have moved before.
    std::size_t cut_with(std::size_t n, double weight_before, double node_weight,
                         const SweepLimits& limits) const;
    /// Shows both gains of each place, -inf for one with a side that is too small, to
    /// visit(k, next rank, weight moved without missing values, gain, gain with them). `n_with`:
    /// the places that have the second.
    template <typename Visit>
    void show_both(std::span<const RankedEntry> items, std::size_t n, std::size_t n_with,
                   double weight_before, std::uint32_t next_rank, const SweepLimits& limits,
                   Visit&& visit) const {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t next = k + 1 < items.size() ? items[k + 1].rank : next_rank;
            if (next == items[k].rank || next == missing_rank) continue;
            const double left = weight[k];
            const double left_with = left + weight_before;
            const bool without = !limits.too_few(rows[k], left);
            const bool with =
                k < n_with && left > 0 && !limits.too_few(rows[k] + limits.moved_rows, left_with);
            if (!without && !with) continue;
            visit(k, next, left, without ? gain[k] : no_gain, with ? gain_with[k] : no_gain);
        }
    }

  private:
    std::size_t counted_ = 0;  // the first weights and rows that are 1, 2, 3, ...
};

/// Weights of the known entries and of the left side, which all scans keep.
class ScanBase {
  public:
    double known_weight() const { return known_weight_; }
    double left_weight() const { return left_weight_; }
    double value_weight(std::size_t value) const { return value_weight_[value]; }
    /// Candidates that the last sweep did not show because others have a larger gain.
    std::size_t n_passed_over() const { return n_passed_over_; }
    void pass_over(std::size_t n) { n_passed_over_ += n; }
    /// As in CLUS, an entropy is NaN if rounding makes the weight of a class negative, and
    /// variances are summed up by category as VarianceAsClus does.
    void follow_clus() { clus_ = true; }

  protected:
    void reset_base(const NodeRows& rows, const NodeLabels& labels) {
        labels_ = &labels;
        weights_ = rows.weight;
    }
    /// Gives category `value` the sums and the weight that all others leave of the known entries.
    void subtract_others(std::size_t value, const std::vector<double>& known,
                         std::vector<double>& sums, std::vector<double>& weights) const;

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    double known_weight_ = 0;
    double left_weight_ = 0;
    std::vector<double> value_weight_;
    std::size_t n_passed_over_ = 0;
    bool clus_ = false;
};

}  // namespace ramify
