// A short summary of the gradients of a row, from which splits are found.
//
// The gain of a split is a sum over all outputs. Its value on a random projection of the gradients
// has the same expectation, so a search over a few dimensions finds nearly the same splits. The
// outputs with the largest gradients, which come first, have a dimension each; the others are
// added up with random signs, in groups that are drawn again for every tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

class Sketch {
  public:
    /// The outputs come in this order; the factor of a gradient is the square root of the weight
    /// of its output.
    Sketch(std::span<const std::int32_t> order, std::span<const double> output_weight,
           std::size_t size);

    /// Floats per row, a multiple of float_block.
    std::size_t width() const { return n_single_ + n_shared_; }
    /// The length of the gradients passed to apply; the end is padded with zeros.
    std::size_t n_padded() const { return factor_.size(); }
    /// How many numbers of the summary are sums of several outputs: the last ones.
    std::size_t n_shared() const { return n_shared_; }
    std::span<const float> factor() const { return factor_; }
    std::span<const std::size_t> shift() const { return shift_; }
    /// Draws signs and groups.
    void draw(std::uint64_t seed);
    /// Writes the summary of `gradient`, times `weight`.
    void apply(const float* gradient, float weight, float* summary) const;

  private:
    std::vector<float> scale_;
    std::size_t n_single_;            // outputs with a dimension each
    std::size_t n_shared_;            // dimensions shared by the other outputs
    std::vector<float> factor_;       // per output: its scale with a sign
    std::vector<std::size_t> shift_;  // per block of n_shared_ outputs: the dimension of its first
};

}  // namespace ramify
