// The impurity of several numeric or nominal targets.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "criteria/scan.hpp"
#include "criteria/target_statistics.hpp"
#include "data/targets.hpp"

namespace ramify {

/// Keeps the sums of the left side; those of the right side are the difference to the known
/// entries. A move and a gain cost all targets, or all classes of nominal targets.
template <typename Statistic>
class TargetScan : public ScanBase {
  public:
    static constexpr Compression compression{};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = false;

    explicit TargetScan(const Targets& targets)
        : table_(*targets.table),
          statistic_(table_),
          squares_(table_),
          width_(statistic_.width()) {}

    /// Targets are those of the table; `labels` is not used.
    void reset(const NodeRows& rows, const NodeLabels& labels = {});
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const;
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&&, Visit&& visit) {
        sweep_items(items, next_rank, limits, *this, visit);
    }
    double known_impurity() const { return known_impurity_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    double clus_score_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    const double* values(std::size_t entry) const {
        return values_.data() + entry * table_.n_targets();
    }
    const double* value_sums(std::size_t value) const {
        return value_sums_.data() + value * width_;
    }
    /// Impurity of a part whose sums are differences; rest: of the right side of a test.
    double impurity(const std::vector<double>& sums, double weight, bool rest) const;
    /// The gain with these sums on the left side.
    double gain_of(const double* left, double weight) const;

    const TargetTable& table_;
    Statistic statistic_;
    // The same sums as squares: entropies do not follow the F distribution.
    std::conditional_t<Statistic::uses_logarithms, NominalStatistic<false>, Statistic> squares_;
    std::size_t width_;
    std::vector<double>
        values_;                 // of the node's entries, copied: features visit them in any order
    std::vector<double> node_;   // sums over all entries
    std::vector<double> known_;  // those over the entries with a known value of the feature
    std::vector<double> left_;
    mutable std::vector<double> joined_;  // scratch: a category and the left side
    mutable std::vector<double> right_;   // scratch
    double weight_ = 0;
    double known_impurity_ = 0;
    std::vector<double> value_sums_;  // one row per category
};

static_assert(Scan<TargetScan<NumericStatistic>> && Scan<TargetScan<NominalStatistic<true>>>);

}  // namespace ramify
