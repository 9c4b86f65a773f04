// A copy of X with two bytes per cell, for the engines that count.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace ramify {

struct Dataset;

/// Every column as small integers: ranks of a numeric feature, codes of a nominal one.
struct CodeColumns {
    std::size_t n_rows = 0;
    std::vector<std::uint16_t> cells;     // column after column
    std::vector<std::uint32_t> n_values;  // per column: number of ranks or codes; that number
                                          // itself stands for a missing value
    std::vector<std::size_t> first_cell;  // per column: its first cell in a table with a cell for
                                          // each value and one for missing values
    std::size_t n_cells = 0;              // cells of such a table
    std::size_t max_values = 0;

    bool empty() const { return n_values.empty(); }
    const std::uint16_t* column(std::size_t feature) const {
        return cells.data() + feature * n_rows;
    }
};

/// The position of each row in the order of each column, by increasing code; rows of one code
/// follow each other in any order. For columns without missing values, and row numbers of two
/// bytes.
struct PositionColumns {
    std::vector<std::uint16_t> position;  // per column and row
    std::vector<std::uint16_t> row;       // per column and position
    std::vector<std::uint16_t> start;     // the first position of each code, then the number of
                                          // rows; a column begins at CodeColumns::first_cell
};

/// Makes the columns on first use, once for all trees of a data set.
class CodeCache {
  public:
    /// Empty if a column has too many values for two bytes, or most cells are zero.
    const CodeColumns& of(const Dataset& dataset);
    /// Requires that of() is not empty.
    const PositionColumns& positions_of(const Dataset& dataset);

  private:
    std::once_flag made_;
    CodeColumns columns_;
    std::once_flag positions_made_;
    PositionColumns positions_;
};

}  // namespace ramify
