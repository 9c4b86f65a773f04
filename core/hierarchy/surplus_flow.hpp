// A maximum flow from labels with surplus up to ancestors with a deficit.
#pragma once

#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// Carries surplus along edges child -> parent of unlimited capacity inside a block of labels, by
/// Dinic's algorithm. Flows are doubles: a path is filled by the exact value of its narrowest
/// place, which becomes exactly 0, so the algorithm ends as it does on integers.
class SurplusFlow {
  public:
    explicit SurplusFlow(SparseRowsView parents);

    /// Carries up as much as possible inside the block and returns the surplus that is left.
    /// `surplus`, by place in the block: positive to carry away, negative a deficit to fill.
    double carry_up(std::span<const std::int32_t> block, std::span<const double> surplus);

    /// After carry_up: whether surplus that is left could still reach the label at this place of
    /// the block. These labels are the upper set with the largest sum of surplus.
    bool is_above(std::size_t place) const { return rank_[place] >= 0; }

  private:
    /// Half of an edge: up with unlimited room, or down with the room of what came up.
    struct Arc {
        std::int32_t head;
        std::int32_t next;  // the next arc of the same label
        double room;
    };

    void build_arcs(std::span<const std::int32_t> block);
    void add_arc(std::int32_t from, std::int32_t to, double room);
    bool rank_labels();
    bool find_path(std::int32_t from);
    bool advance(std::int32_t label);
    void fill_path();

    SparseRowsView parents_;
    std::vector<std::int32_t> place_;  // of every label in the block at hand, -1 outside

    // Everything below is by place in the block.
    std::vector<double> surplus_;
    std::vector<Arc> arcs_;  // the two arcs of an edge are neighbours: k and k ^ 1
    std::vector<std::int32_t> first_arc_;
    std::vector<std::int32_t> open_arc_;  // the arcs before it lead nowhere in this round
    std::vector<std::int32_t> rank_;      // arcs from the nearest surplus, -1 out of reach
    std::vector<std::int32_t> queue_;
    std::vector<std::int32_t> path_;
};

}  // namespace ramify
