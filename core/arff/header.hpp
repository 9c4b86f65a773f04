// The header of an ARFF file: relation, attributes, declared values and declared labels.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arff/scan.hpp"

namespace ramify::arff {

/// Allows a map with string keys to be searched with a string_view.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// The values of a nominal attribute in the declared order; the code of a value is its position.
/// Attributes declared with the same list share one domain.
class Domain {
  public:
    static constexpr std::int32_t missing = -1;
    static constexpr std::int32_t undeclared = -2;

    explicit Domain(std::vector<std::string> values);

    const std::vector<std::string>& values() const { return values_; }
    std::int32_t code(std::string_view value) const;
    /// The code of an unquoted value of one byte; avoids hashing for the most common values.
    std::int32_t code_of_byte(char c) const {
        return code_of_byte_[static_cast<unsigned char>(c)];
    }
    /// "{a,b,c}" for error messages, shortened if long.
    std::string show() const;

  private:
    std::vector<std::string> values_;
    TextMap<std::int32_t> codes_;
    std::array<std::int32_t, 256> code_of_byte_;
};

/// Python code relies on these numbers.
enum class Kind : std::uint8_t { numeric = 0, nominal = 1, text = 2, labels = 3 };

struct Attribute {
    std::string name;
    Kind kind = Kind::numeric;
    std::int32_t domain = -1;  ///< nominal attributes only
    bool is_date = false;      ///< text that is a date
    std::string date_format;   ///< how the dates are written, in the notation of Java
};

/// A label as written in the header or in the first row that uses it, and its position.
struct NamedPlace {
    std::string name;
    std::int64_t line = 0;
    std::int64_t column = 0;
};

struct Header {
    std::string relation;
    std::deque<Attribute> attributes;  ///< a deque, because other tables point to the names
    std::vector<std::unique_ptr<const Domain>> domains;
    /// Labels of the `hierarchical` attribute; empty for `classes`, whose labels come from the
    /// rows.
    std::vector<NamedPlace> declared_labels;
    bool labels_declared = false;
    std::int32_t label_attribute = -1;
};

class HeaderReader {
  public:
    explicit HeaderReader(bool rename_duplicates) : rename_duplicates_(rename_duplicates) {}

    /// Reads one line; returns true if it is @data, so that rows follow.
    bool read(const Line& line);
    const Header& header() const { return header_; }

  private:
    void read_relation(Scanner& scanner);
    void read_attribute(const Line& line, Scanner& scanner);
    std::string read_name(const Line& line, Scanner& scanner);
    void read_type(const Line& line, Scanner& scanner, Attribute& attribute);
    void read_domain(const Line& line, Scanner& scanner, Attribute& attribute);
    std::int32_t add_domain(std::string key, std::vector<std::string> values);
    void read_labels(const Line& line, Scanner& scanner, const char* type_at, bool declared);

    Header header_;
    bool rename_duplicates_;
    std::unordered_set<std::string_view> names_;  ///< names of the attributes so far
    TextMap<std::size_t> n_renamed_;              ///< how often a name was repeated
    TextMap<std::int32_t> domain_of_list_;
    std::string scratch_;
};

}  // namespace ramify::arff
