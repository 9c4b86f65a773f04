// The gradients of rows with few outputs, packed, and sums of them by bin.
//
// A record has a number for each output and a 1, which counts rows; it takes 16 to 80 bytes
// instead of the 64 and more of a sketch. The records of a tree are stored node by node, and bins
// row by row, so that a pass over a node reads memory in order and adds a row to the histograms of
// all features. Every sum has the order of additions that sums of sketches have: the trees are the
// same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

/// Rows have few outputs if a sketch of them has no sums of several outputs.
inline constexpr std::size_t max_few_outputs = float_block;

/// Floats of a record, a multiple of four.
inline constexpr std::size_t record_stride(std::size_t n_outputs) {
    return (n_outputs + 1 + 3) / 4 * 4;
}

/// The bins of all dense features, row by row.
class BinRows {
  public:
    explicit BinRows(const BinnedData& data);
    std::uint8_t bin(std::size_t feature, std::size_t row) const {
        return bins_[row * n_features_ + feature];
    }
    const std::uint8_t* of(std::size_t row) const { return bins_.data() + row * n_features_; }
    std::size_t n_features() const { return n_features_; }

  private:
    std::size_t n_features_;
    std::vector<std::uint8_t> bins_;
};

/// Some rows of a node, and their records in the same order.
struct RecordedRows {
    const float* records;
    const std::uint32_t* rows;
    std::size_t n_rows;
    std::size_t stride;
};

/// Sums by bin over at most max_recorded_rows rows, whose number is exact in single precision.
inline constexpr std::size_t max_recorded_rows = 8192;

class RecordSums {
  public:
    /// `first_bin[i]`: where the bins of features[i] begin.
    void reset(std::span<const std::size_t> first_bin, std::size_t stride, bool weighted);
    /// Replaces the sums by those of some rows. `weight`: of all rows, or null if all are equal.
    void fill(const BinRows& bins, std::span<const std::int32_t> features,
              std::span<const std::size_t> first_bin, const RecordedRows& part,
              const float* weight);
    const float* sums() const { return sums_.data(); }
    const double* weights() const { return weights_.data(); }

  private:
    std::vector<float> sums_;
    std::vector<double> weights_;  // empty if all rows have the same weight
};

/// sums += the records, whose last numbers are left out; in order.
void sum_records(const float* records, std::size_t n_rows, std::size_t n_outputs, float* sums);

/// Copies records one by one: the i-th to place `yes` of `to` if passes[i], else to place `no`;
/// each is then increased by one.
void divide_records(const float* from, const std::uint8_t* passes, std::size_t n_rows,
                    std::size_t stride, std::size_t yes, std::size_t no, float* to);

}  // namespace ramify
