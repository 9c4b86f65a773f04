// Targets that are variables: several numbers, or several classes, of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

struct NodeRows;

/// The targets of all rows, borrowed. What a leaf stores has a column per numeric target, or per
/// class of every nominal target.
struct TargetTable {
    // Rows of n_targets() values; NaN: not known. Numeric targets are relative to their origin,
    // which keeps sums of squares small; nominal targets are classes, numbered from 0.
    std::span<const double> values;
    std::span<const double> origin;  // per numeric target; empty: the targets are nominal
    std::span<const double> weight;  // per target, in the criterion
    std::span<const std::int32_t> first_column;  // per target + 1
    bool any_unknown = false;                    // whether a value is not known
    bool inherit = true;  // a leaf without a known value of a target has that of the node above
    bool counts = false;  // leaves store weights of classes in place of shares
    // Numeric: sums of squares up to this share of those about the origin are 0. They are
    // differences, so that those of equal values may come out positive. -1: none is.
    double noise = -1;

    std::size_t n_targets() const { return weight.size(); }
    std::size_t n_columns() const { return static_cast<std::size_t>(first_column.back()); }
    bool is_numeric() const { return !origin.empty(); }
    std::span<const double> row(std::size_t r) const {
        return values.subspan(r * n_targets(), n_targets());
    }
    std::size_t first(std::size_t target) const {
        return static_cast<std::size_t>(first_column[target]);
    }
};

/// What a leaf stores of some rows: means of numeric targets, or shares of classes.
class TargetPrototype {
  public:
    explicit TargetPrototype(const TargetTable& table) : table_(table) {}
    void compute(const NodeRows& rows);
    /// Columns with a value other than zero, in increasing order; of a numeric target always,
    /// unless none of its values is known.
    std::span<const std::int32_t> columns() const { return columns_; }
    std::span<const double> values() const { return values_; }
    /// The mean over nominal targets of the weight of the rows not in the most frequent class.
    double errors() const { return errors_; }

  private:
    void add_up(const NodeRows& rows);

    const TargetTable& table_;
    std::vector<double> sum_;    // per column: of values, or weight of the class
    std::vector<double> known_;  // per target: weight of the rows with a known value
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
    double errors_ = 0;
};

}  // namespace ramify
