// Isotonic regression on a directed acyclic graph by recursive minimum cuts.
#pragma once

#include <span>
#include <vector>

#include "hierarchy/closure.hpp"
#include "hierarchy/surplus_flow.hpp"

namespace ramify {

/// Finds x with x[label] <= x[parent] for every parent that minimises the sum of
/// weight * (x - score)^2.
///
/// All labels of a block initially have their mean m as the common value. If some upper set U of
/// the block (a set that contains the parents of its labels) has a positive sum of weight * (score
/// - m), the block is cut into the U with the largest such sum and the rest, which are solved
/// separately; otherwise m is optimal (Spouge, Wan and Wilbur, 2003). SurplusFlow finds U.
///
/// Only labels connected by violated edges are solved together: an optimum under fewer constraints
/// is optimal if it also satisfies the others. Groups therefore start from violated edges and are
/// joined as long as an edge between two of them is violated.
class IsotonicGraph {
  public:
    /// Labels in topological order; weights are positive.
    IsotonicGraph(SparseRowsView parents, std::span<const double> weight);

    void solve(std::span<double> row);

  private:
    using Labels = std::span<std::int32_t>;

    bool join_violated(std::span<const double> row);
    std::int32_t group_of(std::int32_t label);
    void solve_groups(std::span<double> row);
    void solve_group(Labels group, std::span<double> row);
    std::size_t cut(Labels block, double mean);
    double mean_score(Labels block) const;

    SparseRowsView parents_;
    std::span<const double> weight_;
    SurplusFlow flow_;
    std::vector<double> score_;
    std::vector<std::int32_t> joined_;  // union-find over labels
    std::vector<char> changed_;         // by group: whether it must be solved (again)
    std::vector<std::int32_t> labels_;  // labels of the changed groups, group by group
    std::vector<Labels> blocks_;        // blocks still to be solved
    std::vector<double> surplus_;       // by position in the current block
    std::vector<std::int32_t> below_;   // labels below the cut
};

}  // namespace ramify
