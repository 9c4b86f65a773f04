// The rows of an ARFF file, stored by kind: numbers, codes, sparse cells, labels, strings,
// weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arff/growing_array.hpp"
#include "arff/header.hpp"
#include "arff/scan.hpp"

namespace ramify::arff {

/// Codes of nominal attributes, appended row by row and returned as columns. Columns are grouped
/// in panels of one cache line: appending a row touches every panel once, and transposing needs
/// the memory of one panel in addition to the codes themselves.
template <typename Code>
class CodePanels {
  public:
    static constexpr std::size_t width = 64 / sizeof(Code);
    /// Consecutive columns of n_rows codes each.
    struct Panel {
        std::vector<std::int32_t> attributes;  ///< the attribute of each column
        GrowingArray<Code> codes;
    };

    /// Adds a column and returns its position in `row`.
    std::int32_t add_column(std::int32_t attribute) {
        attributes_.push_back(attribute);
        row.push_back(0);
        return static_cast<std::int32_t>(row.size() - 1);
    }
    void append_row();
    /// Returns all columns, `width` per panel; the store is empty afterwards.
    std::vector<Panel> take(std::size_t n_rows);

    /// The row being read.
    std::vector<Code> row;

  private:
    std::vector<std::int32_t> attributes_;
    std::vector<GrowingArray<Code>> panels_;
};

/// Cells of sparse rows: CSR with sorted columns; zeros are not stored.
struct SparseCells {
    GrowingArray<std::int64_t> indptr;
    GrowingArray<std::int32_t> indices;
    GrowingArray<double> values;
};

/// Label sets of the rows: label numbers, and every distinct label with its first position.
struct LabelSets {
    GrowingArray<std::int64_t> indptr;
    GrowingArray<std::int32_t> numbers;
    std::vector<NamedPlace> names;
    TextMap<std::int32_t> number_of;
};

/// Concatenated strings; a missing string is empty and flagged.
struct TextColumn {
    GrowingArray<char> bytes;
    GrowingArray<std::int64_t> ends;
    GrowingArray<std::uint8_t> is_missing;
};

/// The contents of all rows. Dense files fill `numbers` and codes, sparse files `cells`.
struct Rows {
    std::int64_t n_rows = 0;
    bool is_sparse = false;
    GrowingArray<double> numbers;  ///< row-major, one column per numeric attribute
    CodePanels<std::int8_t> codes8;
    CodePanels<std::int16_t> codes16;
    CodePanels<std::int32_t> codes32;
    SparseCells cells;  ///< one column per numeric or nominal attribute
    LabelSets labels;
    std::vector<TextColumn> texts;
    GrowingArray<double> weights;  ///< empty if no row has a weight
};

class RowReader {
  public:
    RowReader(const Header& header, std::int64_t index_base);

    void read(const Line& line);
    Rows& rows() { return rows_; }

  private:
    /// Where the cells of an attribute are stored.
    struct Place {
        Kind kind = Kind::numeric;
        std::uint8_t code_bytes = 0;     ///< nominal attributes: 1, 2 or 4
        std::int32_t slot = 0;           ///< position among the attributes with the same storage
        std::int32_t cell = -1;          ///< column of sparse cells
        const Domain* domain = nullptr;  ///< nominal attributes only
    };

    void place_attributes();
    void decide_layout(const Line& line, bool is_sparse);

    void read_dense(const Line& line);
    std::size_t read_quick(Scanner& scanner, std::size_t attribute, double* numbers);
    void read_dense_cell(const Line& line, Scanner& scanner, std::size_t attribute,
                         double* numbers);
    void append_dense_row();

    void read_sparse(const Line& line);
    std::size_t read_index(const Line& line, Scanner& scanner);
    void append_sparse_row();

    double number(const Line& line, const Token& token, std::size_t attribute) const;
    std::int32_t code(const Line& line, const Token& token, std::size_t attribute) const;
    void set_code(const Place& place, std::int32_t code);
    void read_labels(const Line& line, const Token& token);
    void add_label(std::string_view name, std::int64_t line, std::int64_t column);
    void append_text(const Token& token, TextColumn& column);
    void read_weight(const Line& line, Scanner& scanner);
    void finish_row();

    [[noreturn]] void fail_cell(const Line& line, const Token& token, std::size_t attribute,
                                const std::string& expected) const;
    void check_count(const Line& line) const;

    const Header& header_;
    std::int64_t index_base_;
    Rows rows_;
    std::vector<Place> places_;
    std::size_t n_numeric_ = 0;
    std::size_t n_cells_ = 0;
    std::int64_t first_line_ = 0;
    double weight_ = 1.0;
    std::vector<std::int64_t> seen_in_row_;  ///< sparse files: the last row with the attribute
    std::vector<std::pair<std::int32_t, double>> sparse_row_;
    std::string scratch_;
};

}  // namespace ramify::arff
