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
    const std::uint32_t* total;     // per class: rows
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
    bool all_differ;             // codes are positions
};

/// The first branch has the codes below `bound`.
struct MarkedTest {
    std::int32_t feature = -1;
    double gain = 0;
    double left = 0;
    std::uint32_t bound = 0;
};

/// The codes of rare rows, in their order, and sums over the rare rows before each of them and, in
/// one more cell, over all.
struct RareCodes {
    std::vector<std::uint32_t> code;
    std::vector<double> n;
    std::vector<double> square;  // sum over classes of the square of their rows
    std::vector<double> cross;   // sum over rows of all rows of their class
    std::vector<double> above;   // rows of the node with smaller codes
    std::vector<double> to;      // the same and those with this code

    void make_room(std::size_t n_codes);
};

/// Searches features one after the other. Not shared between threads.
class MarkingSearch {
  public:
    explicit MarkingSearch(std::size_t n_classes) : moved_(n_classes, 0) {}
    /// For nodes of so many rare rows.
    void make_room(std::size_t n_rare, std::size_t n_words);
    /// Replaces the test by the feature's best, if that one is better; whether it has done so.
    bool search(const MarkedNode& node, const MarkedFeature& feature, MarkedTest& best);

  private:
    std::size_t list_codes(const MarkedNode& node, const MarkedFeature& feature);
    bool choose_place(const MarkedNode& node, std::size_t n, MarkedTest& best) const;
    bool try_place(const MarkedNode& node, std::size_t sums, double left, MarkedTest& best) const;

    RareCodes codes_;
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> moved_;  // per class, zero between features
};

}  // namespace ramify
