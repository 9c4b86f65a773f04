// X once more, in two bytes a cell, for growing by counting.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace ramify {

struct Dataset;

/// Every column as small whole numbers: ranks of a numeric feature, codes of a nominal one.
struct CodeColumns {
    std::size_t n_rows = 0;
    std::vector<std::uint16_t> cells;     // column after column
    std::vector<std::uint32_t> n_values;  // per column: how many ranks or codes there are; that
                                          // number itself stands for a missing value
    std::vector<std::size_t> first_cell;  // per column: where a table of sums, one for each value
                                          // and one for missing values, has the column's
    std::size_t n_cells = 0;              // of such a table
    std::size_t max_values = 0;

    bool empty() const { return n_values.empty(); }
    const std::uint16_t* column(std::size_t feature) const {
        return cells.data() + feature * n_rows;
    }
};

/// Where the rows stand in the order of each column, from code 0 on; rows of one code follow each
/// other in any order. For columns without unknown values and rows that two bytes can count.
struct PositionColumns {
    std::vector<std::uint16_t> position;  // per column and row
    std::vector<std::uint16_t> row;       // per column and position
    std::vector<std::uint16_t> start;     // the first position of each code, and the number of
                                          // rows: a column's begin at CodeColumns::first_cell
};

/// Makes the columns when they are first asked for: one set for all trees of a data set.
class CodeCache {
  public:
    /// Empty where a column has too many values for two bytes, or most cells are zero.
    const CodeColumns& of(const Dataset& dataset);
    /// For a data set that has these, and codes that are not empty.
    const PositionColumns& positions_of(const Dataset& dataset);

  private:
    std::once_flag made_;
    CodeColumns columns_;
    std::once_flag positions_made_;
    PositionColumns positions_;
};

}  // namespace ramify
