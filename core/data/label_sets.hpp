// Distinct label sets: rows with the same labels have the same set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

struct NodeRows;

/// The distinct label sets of a fit and their distances, borrowed.
struct LabelSets {
    std::span<const std::uint32_t> of_row;  // per row: the number of its set; empty: not known
    std::span<const double> squared;        // n_sets rows of squared distances; empty: Euclidean
    std::size_t n_sets = 0;

    double between(std::size_t a, std::size_t b) const { return squared[a * n_sets + b]; }
};

/// The distinct label sets of one node, numbered as they appear in its rows.
struct NodeSets {
    std::vector<std::uint32_t> of_entry;     // per entry: the number of its set here
    std::vector<std::uint32_t> set;          // per number here: the set's number in the fit
    std::vector<std::uint32_t> first_entry;  // likewise: the first entry that has the set
    std::vector<double> total;               // likewise: weight of the entries that have it

    std::size_t size() const { return set.size(); }
};

/// Finds the sets of one node after the other, in time linear in its rows.
class NodeSetsBuilder {
  public:
    explicit NodeSetsBuilder(const LabelSets& sets) : sets_(sets), local_(sets.n_sets, unseen) {}
    void build(const NodeRows& rows, NodeSets& node);

  private:
    static constexpr std::uint32_t unseen = 0xFFFFFFFFu;
    const LabelSets& sets_;
    std::vector<std::uint32_t> local_;  // per set: its number here; `unseen` outside build()
};

}  // namespace ramify
