#include "arff/rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace ramify::arff {

namespace {

/// The same choice as pandas makes, so that its categorical columns can use the codes directly.
std::uint8_t bytes_of_codes(std::size_t n_values) {
    if (n_values < 127) return 1;
    return n_values < 32767 ? 2 : 4;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

struct Count {
    std::size_t n_values = 0;
    const char* unexpected =
        nullptr;  ///< the first surplus value, or the end of a row that is too short
};

/// Counts the values of a dense row without its weight.
Count count_values(const Line& line, std::size_t expected) {
    std::string scratch;
    Scanner scanner(line, scratch);
    Count count;
    do {
        scanner.skip_blanks();
        if (count.n_values > 0 && scanner.peek() == '{') break;
        if (count.n_values <= expected) count.unexpected = scanner.at();
        scanner.value(',', ',');
        ++count.n_values;
    } while (scanner.take(','));
    if (count.n_values < expected) count.unexpected = scanner.at();
    return count;
}

}  // namespace

template <typename Code>
void CodePanels<Code>::append_row() {
    if (panels_.empty()) panels_.resize((row.size() + width - 1) / width);
    for (std::size_t p = 0; p < panels_.size(); ++p) {
        panels_[p].append(row.data() + p * width, std::min(width, row.size() - p * width));
    }
}

template <typename Code>
auto CodePanels<Code>::take(std::size_t n_rows) -> std::vector<Panel> {
    std::vector<Panel> turned;
    panels_.resize((row.size() + width - 1) / width);
    for (std::size_t p = 0; p < panels_.size(); ++p) {
        Panel panel;
        const std::size_t n_columns = std::min(width, row.size() - p * width);
        // The rows are sparse, or the columns have already been taken.
        if (panels_[p].size() != n_rows * n_columns) return {};
        const auto first = attributes_.begin() + static_cast<std::ptrdiff_t>(p * width);
        panel.attributes.assign(first, first + static_cast<std::ptrdiff_t>(n_columns));
        Code* out = panel.codes.append(n_rows * n_columns);
        const Code* in = panels_[p].data();
        for (std::size_t r = 0; r < n_rows; ++r) {
            for (std::size_t c = 0; c < n_columns; ++c)
                out[c * n_rows + r] = in[r * n_columns + c];
        }
        panels_[p].release();
        turned.push_back(std::move(panel));
    }
    return turned;
}

template class CodePanels<std::int8_t>;
template class CodePanels<std::int16_t>;
template class CodePanels<std::int32_t>;

RowReader::RowReader(const Header& header, std::int64_t index_base)
    : header_(header), index_base_(index_base) {
    place_attributes();
    rows_.labels.indptr.push_back(0);
    rows_.cells.indptr.push_back(0);
}

void RowReader::place_attributes() {
    for (std::size_t a = 0; a < header_.attributes.size(); ++a) {
        const Attribute& attribute = header_.attributes[a];
        const auto number = static_cast<std::int32_t>(a);
        Place place;
        place.kind = attribute.kind;
        if (attribute.kind == Kind::numeric) {
            place.slot = static_cast<std::int32_t>(n_numeric_++);
        } else if (attribute.kind == Kind::nominal) {
            place.domain = header_.domains[static_cast<std::size_t>(attribute.domain)].get();
            place.code_bytes = bytes_of_codes(place.domain->values().size());
            place.slot = place.code_bytes == 1   ? rows_.codes8.add_column(number)
                         : place.code_bytes == 2 ? rows_.codes16.add_column(number)
                                                 : rows_.codes32.add_column(number);
        } else if (attribute.kind == Kind::text) {
            place.slot = static_cast<std::int32_t>(rows_.texts.size());
            rows_.texts.emplace_back();
        }
        if (attribute.kind == Kind::numeric || attribute.kind == Kind::nominal) {
            place.cell = static_cast<std::int32_t>(n_cells_++);
        }
        places_.push_back(place);
    }
}

void RowReader::read(const Line& line) {
    Scanner scanner(line, scratch_);
    scanner.skip_blanks();
    if (scanner.at_end()) return;
    const bool is_sparse = scanner.peek() == '{';
    if (first_line_ == 0) decide_layout(line, is_sparse);
    if (is_sparse != rows_.is_sparse) {
        scanner.fail_expected(std::string(rows_.is_sparse ? "a sparse row {index value,...}"
                                                          : "a dense row of values") +
                              " as in line " + std::to_string(first_line_));
    }
    weight_ = 1.0;
    if (is_sparse) {
        read_sparse(line);
    } else {
        read_dense(line);
    }
}

void RowReader::decide_layout(const Line& line, bool is_sparse) {
    first_line_ = line.number;
    rows_.is_sparse = is_sparse;
    if (is_sparse) seen_in_row_.assign(places_.size(), -1);
}

void RowReader::read_dense(const Line& line) {
    double* numbers = rows_.numbers.append(n_numeric_);
    Scanner scanner(line, scratch_);
    for (std::size_t a = 0; a < places_.size(); ++a) {
        if (a > 0 && !scanner.take(',')) {
            check_count(line);
            scanner.fail_expected("','");
        }
        a = read_quick(scanner, a, numbers);
        if (a == places_.size()) break;
        if (scanner.at_end()) check_count(line);  // the last value may be empty
        read_dense_cell(line, scanner, a, numbers);
    }
    if (scanner.take(',')) {
        scanner.skip_blanks();
        if (scanner.peek() != '{') check_count(line);
        read_weight(line, scanner);
    }
    append_dense_row();
    finish_row();
}

/// Reads unquoted numbers and one-byte values without blanks: nearly all cells of a typical file.
/// Stops before any other cell, or after the last one, and returns the attribute of the next cell.
std::size_t RowReader::read_quick(Scanner& scanner, std::size_t attribute, double* numbers) {
    // Local copies: the compiler must assume that a write to an int8_t may change any member.
    const char* at = scanner.at();
    const char* const end = scanner.end();
    std::int8_t* const codes = rows_.codes8.row.data();
    const Place* const places = places_.data();
    const std::size_t n = places_.size();
    while (attribute < n && at != end) {
        const Place& place = places[attribute];
        const char* after = at + 1;
        if (place.code_bytes == 1) {
            const std::int32_t code = place.domain->code_of_byte(*at);
            if (code == Domain::undeclared) break;
            if (after != end && *after != ',') break;
            codes[place.slot] = static_cast<std::int8_t>(code);
        } else if (place.kind == Kind::numeric) {
            double value = 0.0;
            const auto [stop, error] = std::from_chars(at, end, value);
            if (error != std::errc() || std::isnan(value)) break;
            if (stop != end && *stop != ',') break;
            numbers[place.slot] = value;
            after = stop;
        } else {
            break;
        }
        ++attribute;
        at = after;
        if (attribute == n || at == end) break;
        ++at;  // the comma
    }
    scanner.move_to(at);
    return attribute;
}

void RowReader::read_dense_cell(const Line& line, Scanner& scanner, std::size_t attribute,
                                double* numbers) {
    const Token token = scanner.value(',', ',');
    const Place& place = places_[attribute];
    switch (place.kind) {
        case Kind::numeric:
            numbers[place.slot] = number(line, token, attribute);
            break;
        case Kind::nominal:
            set_code(place, code(line, token, attribute));
            break;
        case Kind::labels:
            read_labels(line, token);
            break;
        case Kind::text:
            append_text(token, rows_.texts[static_cast<std::size_t>(place.slot)]);
            break;
    }
}

void RowReader::set_code(const Place& place, std::int32_t code) {
    const auto slot = static_cast<std::size_t>(place.slot);
    if (place.code_bytes == 1) {
        rows_.codes8.row[slot] = static_cast<std::int8_t>(code);
    } else if (place.code_bytes == 2) {
        rows_.codes16.row[slot] = static_cast<std::int16_t>(code);
    } else {
        rows_.codes32.row[slot] = code;
    }
}

void RowReader::append_dense_row() {
    rows_.codes8.append_row();
    rows_.codes16.append_row();
    rows_.codes32.append_row();
}

void RowReader::read_sparse(const Line& line) {
    Scanner scanner(line, scratch_);
    sparse_row_.clear();
    scanner.skip_blanks();
    scanner.take('{');
    scanner.skip_blanks();
    while (scanner.peek() != '}') {
        const std::size_t attribute = read_index(line, scanner);
        const Token token = scanner.value(',', '}');
        const Place& place = places_[attribute];
        if (place.kind == Kind::numeric) {
            sparse_row_.emplace_back(place.cell, number(line, token, attribute));
        } else if (place.kind == Kind::nominal) {
            const std::int32_t found = code(line, token, attribute);
            sparse_row_.emplace_back(place.cell, found == Domain::missing
                                                     ? std::numeric_limits<double>::quiet_NaN()
                                                     : static_cast<double>(found));
        } else if (place.kind == Kind::labels) {
            read_labels(line, token);
        } else {
            append_text(token, rows_.texts[static_cast<std::size_t>(place.slot)]);
        }
        if (scanner.peek() == '}') break;
        if (!scanner.take(',')) scanner.fail_expected("a closing } at the end of the sparse row");
        scanner.skip_blanks();
    }
    scanner.take('}');
    scanner.skip_blanks();
    if (scanner.take(',')) {
        scanner.skip_blanks();
        read_weight(line, scanner);
    }
    scanner.skip_blanks();
    if (!scanner.at_end()) scanner.fail_expected("nothing after the sparse row");
    append_sparse_row();
    finish_row();
}

std::size_t RowReader::read_index(const Line& line, Scanner& scanner) {
    const char* at = scanner.at();
    std::int64_t index = 0;
    const auto [stop, error] = std::from_chars(at, scanner.end(), index);
    const bool is_number = error == std::errc() && stop != scanner.end() && is_blank(*stop);
    const auto n_attributes = static_cast<std::int64_t>(places_.size());
    if (!is_number || index < index_base_ || index - index_base_ >= n_attributes) {
        std::string remedy;
        if (is_number && index == n_attributes) {
            remedy = "; pass index_base=1 (--index-base 1) if indices start at 1, as in CLUS";
        } else if (is_number && index == 0) {
            remedy = "; pass index_base=0 if indices start at 0, as in Weka and Mulan";
        }
        line.fail(at, "expected an attribute index from " + std::to_string(index_base_) + " to " +
                          std::to_string(n_attributes - 1 + index_base_) +
                          ", a blank and a value, found " + show(scanner.rest()) + remedy);
    }
    const auto attribute = static_cast<std::size_t>(index - index_base_);
    if (seen_in_row_[attribute] == rows_.n_rows) {
        line.fail(at, "expected each attribute at most once in a sparse row, found index " +
                          std::to_string(index) + " again");
    }
    seen_in_row_[attribute] = rows_.n_rows;
    scanner.move_to(stop);
    return attribute;
}

void RowReader::append_sparse_row() {
    const auto by_column = [](const auto& x, const auto& y) { return x.first < y.first; };
    if (!std::is_sorted(sparse_row_.begin(), sparse_row_.end(), by_column)) {
        std::sort(sparse_row_.begin(), sparse_row_.end(), by_column);
    }
    for (const auto& [column, value] : sparse_row_) {
        if (value == 0.0) continue;
        rows_.cells.indices.push_back(column);
        rows_.cells.values.push_back(value);
    }
    rows_.cells.indptr.push_back(static_cast<std::int64_t>(rows_.cells.indices.size()));
}

double RowReader::number(const Line& line, const Token& token, std::size_t attribute) const {
    if (token.text == "?") return std::numeric_limits<double>::quiet_NaN();
    double value = 0.0;
    switch (parse_number(token.text, value)) {
        case NumberStatus::ok:
            return value;
        case NumberStatus::too_large:
            fail_cell(line, token, attribute, "a number in the range of a 64-bit float");
        case NumberStatus::malformed:
            break;
    }
    fail_cell(line, token, attribute, "a number");
}

std::int32_t RowReader::code(const Line& line, const Token& token, std::size_t attribute) const {
    if (token.is_missing()) return Domain::missing;
    const Domain& domain = *places_[attribute].domain;
    const std::int32_t found = domain.code(token.text);
    if (found == Domain::undeclared || (token.text.empty() && !token.quoted)) {
        fail_cell(line, token, attribute, "one of " + domain.show());
    }
    return found;
}

void RowReader::read_labels(const Line& line, const Token& token) {
    if (token.text.empty()) return;
    ColumnCounter columns(line);
    // A value with escapes is a copy; its labels are reported at the position of the value.
    const bool is_copy = token.quoted && token.text.data() != token.begin + 1;
    std::size_t begin = 0;
    while (begin <= token.text.size()) {
        const std::size_t stop = std::min(token.text.find('@', begin), token.text.size());
        std::string_view name = token.text.substr(begin, stop - begin);
        if (!token.quoted) name = trimmed(name);
        const auto found = rows_.labels.number_of.find(name);
        if (found != rows_.labels.number_of.end()) {
            rows_.labels.numbers.push_back(found->second);
        } else {
            add_label(name, line.number, columns.column(is_copy ? token.begin : name.data()));
        }
        begin = stop + 1;
    }
}

void RowReader::add_label(std::string_view name, std::int64_t line, std::int64_t column) {
    LabelSets& labels = rows_.labels;
    const auto number = static_cast<std::int32_t>(labels.names.size());
    labels.names.push_back({std::string(name), line, column});
    labels.number_of.emplace(name, number);
    labels.numbers.push_back(number);
}

void RowReader::append_text(const Token& token, TextColumn& column) {
    column.bytes.append(token.text.data(), token.is_missing() ? 0 : token.text.size());
    column.ends.push_back(static_cast<std::int64_t>(column.bytes.size()));
    column.is_missing.push_back(token.is_missing() ? 1 : 0);
}

void RowReader::read_weight(const Line& line, Scanner& scanner) {
    if (!scanner.take('{')) scanner.fail_expected("a weight in braces such as {2.5}");
    const Token token = scanner.value('}', '}');
    const auto status = parse_number(token.text, weight_);
    if (status != NumberStatus::ok || !std::isfinite(weight_) || weight_ < 0.0) {
        line.fail(token.begin, "expected a weight of 0 or more, found " + show(token));
    }
    if (!scanner.take('}')) scanner.fail_expected("a closing } after the weight");
    scanner.skip_blanks();
    if (!scanner.at_end()) scanner.fail_expected("nothing after the weight");
}

void RowReader::finish_row() {
    const auto n_before = static_cast<std::size_t>(rows_.n_rows);
    if (weight_ != 1.0 && rows_.weights.size() == 0) {
        std::fill_n(rows_.weights.append(n_before), n_before, 1.0);
    }
    if (weight_ != 1.0 || rows_.weights.size() > 0) rows_.weights.push_back(weight_);
    ++rows_.n_rows;
    rows_.labels.indptr.push_back(static_cast<std::int64_t>(rows_.labels.numbers.size()));
    for (TextColumn& column : rows_.texts) {
        // Strings may be left out of a sparse row.
        while (column.ends.size() < n_before + 1) append_text({"?", nullptr, false}, column);
    }
}

void RowReader::fail_cell(const Line& line, const Token& token, std::size_t attribute,
                          const std::string& expected) const {
    // An unexpected value often means that the row has too few or too many values.
    if (!rows_.is_sparse) check_count(line);
    std::string what = "expected " + expected + " for attribute " +
                       show(header_.attributes[attribute].name) + ", found " + show(token);
    if (token.text.empty() && !token.quoted) what += "; write ? for a missing value";
    line.fail(token.begin, what);
}

void RowReader::check_count(const Line& line) const {
    const Count count = count_values(line, places_.size());
    if (count.n_values == places_.size()) return;
    line.fail(count.unexpected, "expected " + std::to_string(places_.size()) + " values, found " +
                                    std::to_string(count.n_values));
}

}  // namespace ramify::arff
