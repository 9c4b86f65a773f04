// Turns probabilities into the weight that each label adds to the value of a label set.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/lanes.hpp"
#include "decoding/graph.hpp"

namespace ramify {

/// The meaning of the numbers that a decoder is given.
enum class Values {
    weights,       // the weights themselves
    marginals,     // P(label); the weights are those of the joint posterior
    conditionals,  // P(label | parent) of every edge; the weights are those of the joint posterior
    risk,          // P(label); the weights are slope * P + offset
};

/// The number of values per row: one per label, or one per edge in the order of the parents, where
/// a top-level label has one edge, from the root.
std::size_t row_width(const LeafGraph& graph, Values values);

/// Turns rows of numbers into one weight per label.
///
/// The posterior of a set S is Π over its labels i and their parents j of p_ij, times Π over
/// edges that leave S of (1 - p_ij); its logarithm, up to a constant, is the sum over i in S of
///     w_i = Σ_parents j log(p_ij / (1 - p_ij)) + Σ_children l log(1 - p_li).
class WeightMaker {
  public:
    /// `slope` and `offset` have one number per label and are used by Values::risk. Borrowed.
    WeightMaker(const LeafGraph& graph, Values values, std::span<const double> slope,
                std::span<const double> offset);

    /// Takes up to `abreast` consecutive rows and returns the weights of `abreast` rows, padded
    /// with the first row. The weights of one label in all rows are contiguous.
    std::span<const double> operator()(std::span<const double> rows);

  private:
    void transpose_rows(std::span<const double> rows);
    void compute_risk_weights();

    const LeafGraph& graph_;
    Values values_;
    std::span<const double> slope_;
    std::span<const double> offset_;
    std::size_t width_;
    std::vector<double> given_;
    std::vector<double> weights_;
    std::vector<double> product_;  // per label: factors whose logarithm is not yet in its weight
    std::vector<char> flush_;      // per edge: whether to add the parent's product to its weight
};

}  // namespace ramify
