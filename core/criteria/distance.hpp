// Impurity by pairwise distances between label sets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/simd.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_gain.hpp"
#include "data/label_sets.hpp"
#include "data/targets.hpp"

namespace ramify {

/// Var(E) = 1 / (2 W^2) sum_ij v_i v_j d^2(i, j) over the entries i, j of E, of weight W.
/// With cells k(a, b) = -d^2(a, b) / 2 between the distinct sets of the node, W Var(E) is -Q / W
/// for Q = sum_ij v_i v_j k(i, j), so that gains are those of VarianceScan with Q1 and X over
/// these cells. Keeping g_b = sum over the left entries of v_i k(i, b) for every set b, an entry
/// of set a that crosses adds 2 v g_a to Q1 and a row of cells to g: a scan costs entries times
/// sets.
class DistanceScan : public ScanBase {
  public:
    static constexpr Compression compression{false, false};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = false;

    explicit DistanceScan(const Targets& targets) : sets_(targets.sets), builder_(targets.sets) {}

    /// Label sets are those of the targets; `labels` is not used.
    void reset(const NodeRows& rows, const NodeLabels& labels = {});
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const { return gain_of(left_square_, left_cross_, left_weight_); }
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&& worth, Visit&& visit) {
        const std::size_t n = limits.unit ? prefix_.count(items.size(), known_weight_, limits)
                                          : prefix_.weigh(items, weights_, known_weight_, limits);
        if (n == 0) return;
        move_all(items.first(n));
        write_gains({known_square_, known_weight_, known_part_}, n, prefix_.square.data(),
                    prefix_.cross.data(), prefix_.weight.data(), prefix_.gain.data());
        if (!worth(largest(prefix_.gain.data(), n))) return;
        prefix_.show(items, n, next_rank, limits, visit);
    }
    double known_impurity() const { return -known_part_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    const double* row(std::size_t set) const { return cells_.data() + set * stride_; }
    double gain_of(double square, double cross, double weight) const {
        return variance_gain({known_square_, known_weight_, known_part_}, square, cross, weight);
    }
    void fill_cells();
    void leave_out(std::span<const std::uint32_t> missing);
    void move_all(std::span<const RankedEntry> items);
    void move_few(std::span<const RankedEntry> items);
    double square_with(std::size_t value) const;

    const LabelSets& sets_;
    NodeSetsBuilder builder_;
    NodeSets node_;
    std::size_t stride_ = 0;           // sets of the node, rounded up to simd_block
    std::vector<double> cells_;        // k(a, b), rows of `stride_`, padded with zeros
    std::vector<double> cross_;        // per set b: sum over the entries of v k(., b)
    double square_ = 0;                // Q of the node
    double weight_ = 0;                // W of the node
    std::vector<double> left_;         // g
    std::vector<double> missing_;      // the same over the entries with a missing value
    std::vector<double> known_cross_;  // cross_ over the others
    std::vector<double> known_;        // weight of each set over the same entries
    double known_square_ = 0;          // Q over the same entries
    double known_part_ = 0;            // known_square_ / known_weight_
    double left_square_ = 0;           // Q1
    double left_cross_ = 0;            // X
    PrefixSums prefix_;
    std::vector<double> value_sums_;    // per category: weight of each set
    std::vector<double> value_left_;    // per category: its g
    std::vector<double> value_square_;  // per category: its Q
    std::vector<double> value_cross_;
};

static_assert(Scan<DistanceScan>);

}  // namespace ramify
