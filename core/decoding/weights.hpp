// From probabilities to what each label adds to the value of a label set, some rows abreast.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/lanes.hpp"
#include "decoding/graph.hpp"

namespace ramify {

/// What the rows of numbers are that a decoder starts from.
enum class Values {
    weights,       // what each label adds, as it is
    marginals,     // P(label); weights are those of the joint posterior
    conditionals,  // P(label | parent) of every edge; weights are those of the joint posterior
    risk,          // P(label); weights are slope * P + offset
};

/// How many numbers a row has: one per label, or one per edge in the order of the parents, where
/// a top-level label has one edge, from the root.
std::size_t row_width(const LeafGraph& graph, Values values);

/// Turns rows of numbers into one weight per label.
///
/// The posterior of a set S is Π over its labels i and their parents j of p_ij, times Π over
/// edges that leave S of (1 - p_ij); its logarithm, up to a constant, is the sum over i in S of
///     w_i = Σ_parents j log(p_ij / (1 - p_ij)) + Σ_children l log(1 - p_li).
class WeightMaker {
  public:
    /// `slope` and `offset`: one number per label, for Values::risk. Borrowed.
    WeightMaker(const LeafGraph& graph, Values values, std::span<const double> slope,
                std::span<const double> offset);

    /// Takes up to `abreast` rows, one after the other, and returns the weights of so many (of the
    /// first row where there are fewer): label by label, the rows' numbers side by side.
    std::span<const double> operator()(std::span<const double> rows);

  private:
    void stand_abreast(std::span<const double> rows);
    void weigh_by_risk();

    const LeafGraph& graph_;
    Values values_;
    std::span<const double> slope_;
    std::span<const double> offset_;
    std::size_t width_;
    std::vector<double> given_;
    std::vector<double> weights_;
    std::vector<double> product_;  // per label: of odds and of 1 - p, not yet in its weight
    std::vector<char> full_;       // per edge: whether the parent's product is due after it
};

}  // namespace ramify
