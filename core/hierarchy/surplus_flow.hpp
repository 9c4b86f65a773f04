// Maximum flow from labels with a surplus up to ancestors with a deficit.
#pragma once

#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// Moves surplus along edges child -> parent of unlimited capacity within a block of labels, by
/// Dinic's algorithm. Flows are doubles: the flow along a path is exactly its smallest capacity,
/// which becomes exactly 0, so the algorithm terminates as it does for integers.
class SurplusFlow {
  public:
    explicit SurplusFlow(SparseRowsView parents);

    /// Moves as much surplus as possible within the block and returns the surplus that is left.
    /// `surplus` is given by position in the block; negative values are deficits.
    double carry_up(std::span<const std::int32_t> block, std::span<const double> surplus);

    /// After carry_up: whether remaining surplus can reach the label at this position of the
    /// block. These labels are the upper set with the largest sum of surplus.
    bool is_above(std::size_t position) const { return rank_[position] >= 0; }

  private:
    /// One direction of an edge: up with unlimited capacity, or down with the flow that went up.
    struct Arc {
        std::int32_t head;
        std::int32_t next;  // the next arc of the same label
        double capacity;
    };

    void build_arcs(std::span<const std::int32_t> block);
    void add_arc(std::int32_t from, std::int32_t to, double capacity);
    bool rank_labels();
    bool find_path(std::int32_t from);
    bool advance(std::int32_t label);
    void fill_path();

    SparseRowsView parents_;
    std::vector<std::int32_t> position_;  // of every label in the current block, -1 outside

    // Everything below is by position in the block.
    std::vector<double> surplus_;
    std::vector<Arc> arcs_;  // the two arcs of an edge are k and k ^ 1
    std::vector<std::int32_t> first_arc_;
    std::vector<std::int32_t> open_arc_;  // earlier arcs lead to no deficit in this round
    std::vector<std::int32_t> rank_;      // distance from the nearest surplus, -1 if out of reach
    std::vector<std::int32_t> queue_;
    std::vector<std::int32_t> path_;
};

}  // namespace ramify
