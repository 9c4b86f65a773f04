// The edges of all columns in single precision: only columns that may be the best are looked at
// again.
#pragma once

#include "adaboost/columns.hpp"
#include "adaboost/scan.hpp"
#include "common/scratch.hpp"

namespace ramify {

/// The cells of a block in single precision. Those of each label are multiplied by a power of two,
/// such that their absolute values add up to a number from 1 to 2.
class RoughCells {
  public:
    void copy(const double* cells, const LaneTotals& totals, std::size_t n_rows);
    const float* data() const { return rows_.data()->cell; }
    const double* scale() const { return scale_; }

  private:
    struct alignas(64) Row {
        float cell[label_lanes];
    };
    alignas(64) double scale_[label_lanes];  // 0 for labels without weight
    Scratch<Row> rows_;
};

/// What is known of the largest edge of a test of a column, for each label.
struct LaneBounds {
    alignas(64) double lower[label_lanes];
    alignas(64) double upper[label_lanes];
};

/// Bounds that differ little; negative if there is no test. `cells` are those that `rough` was
/// copied from. Not for nominal columns.
void bound_column(const BoostingColumn& column, const RoughCells& rough, const double* cells,
                  const LaneTotals& totals, LaneBounds& bounds);

}  // namespace ramify
