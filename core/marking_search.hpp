// The best test of one feature in a node whose rows are bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ramify {

/// The classes of a node. Gains are those of sum_c p_c (1 - p_c).
struct MarkedNode {
    double weight;                  // W: rows
    double square;                  // Q: sum over classes of the square of their rows
    double major;                   // rows of the commonest class
    const double* total;            // per class: rows
    const std::uint16_t* class_of;  // per row of the data set
    double tolerance;               // a gain must beat the best by more than this
};

/// A node in the order of one feature, a bit per position.
struct MarkedFeature {
    const std::uint64_t* members;  // rows of the node
    std::uint64_t* rare;           // those not of the commonest class; zero after the search
    std::size_t n_words;
    const std::uint16_t* row;    // per position
    const std::uint16_t* code;   // per row
    const std::uint16_t* start;  // per code: its first position
};

/// The first branch has the codes below `bound`.
struct MarkedTest {
    std::int32_t feature = -1;
    double gain = 0;
    double left = 0;
    std::uint32_t bound = 0;
};

/// A place beside a rare row, and sums over the rare rows before it.
struct MarkedPlace {
    std::uint32_t bound;
    double n;
    double square;  // sum over classes of the square of their rows
    double cross;   // sum over rows of all rows of their class
};

/// Lists the places beside rare rows, at most two for each, and returns their number. `moved` is
/// zero per class, before and, for the classes of the node, to be made so again.
std::size_t list_places(const MarkedNode& node, const MarkedFeature& feature, double* moved,
                        MarkedPlace* places);

/// Replaces the test by the best of n places, if that one is better; whether it has done so.
/// `before` has room for n_words numbers.
bool choose_place(const MarkedNode& node, const MarkedFeature& feature, const MarkedPlace* places,
                  std::size_t n, std::uint32_t* before, MarkedTest& best);

}  // namespace ramify
