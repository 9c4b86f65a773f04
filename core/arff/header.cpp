#include "arff/header.hpp"

#include <algorithm>

namespace ramify::arff {

namespace {

constexpr const char* supported_types =
    "a type (numeric, real, integer, {value,...}, binary, string, key, date, hierarchical or "
    "classes)";

std::string of_attribute(const Attribute& attribute) {
    return " of attribute " + show(attribute.name);
}

}  // namespace

Domain::Domain(std::vector<std::string> values) : values_(std::move(values)) {
    code_of_byte_.fill(undeclared);
    codes_.reserve(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const auto code = static_cast<std::int32_t>(i);
        codes_.emplace(values_[i], code);
        if (values_[i].size() == 1)
            code_of_byte_[static_cast<unsigned char>(values_[i][0])] = code;
    }
    // These bytes do not start a plain value; the general code path handles them.
    for (const char c : {' ', '\t', '\r', '\f', '\v', ',', '\'', '"', '{', '}', '%'}) {
        code_of_byte_[static_cast<unsigned char>(c)] = undeclared;
    }
    code_of_byte_[static_cast<unsigned char>('?')] = missing;
}

std::int32_t Domain::code(std::string_view value) const {
    const auto found = codes_.find(value);
    return found == codes_.end() ? undeclared : found->second;
}

std::string Domain::show() const {
    constexpr std::size_t max_shown = 20;
    std::string shown = "{";
    for (std::size_t i = 0; i < std::min(values_.size(), max_shown); ++i) {
        if (i > 0) shown += ",";
        const std::string value = arff::show(values_[i]);
        shown += value.substr(1, value.size() - 2);
    }
    if (values_.size() > max_shown) {
        shown += ",... (" + std::to_string(values_.size() - max_shown) + " more)";
    }
    return shown + "}";
}

bool HeaderReader::read(const Line& line) {
    Scanner scanner(line, scratch_);
    scanner.skip_blanks();
    if (scanner.at_end()) return false;
    if (scanner.peek() != '@') scanner.fail_expected("@relation, @attribute or @data");
    const char* keyword_at = scanner.at();
    const std::string keyword = lower_case(scanner.word('\0').text);
    scanner.skip_blanks();
    if (keyword == "@attribute") {
        read_attribute(line, scanner);
    } else if (keyword == "@relation") {
        read_relation(scanner);
    } else if (keyword == "@data") {
        if (!scanner.at_end()) scanner.fail_expected("nothing after @data");
        if (header_.attributes.empty()) {
            line.fail(keyword_at, "expected an @attribute before @data");
        }
        names_ = {};
        n_renamed_ = {};
        domain_of_list_ = {};
        return true;
    } else {
        line.fail(keyword_at, "expected @relation, @attribute or @data, found " + show(keyword));
    }
    return false;
}

void HeaderReader::read_relation(Scanner& scanner) {
    if (scanner.peek() == '\'' || scanner.peek() == '"') {
        header_.relation = scanner.word('\0').text;
        return;
    }
    // Unquoted names with blanks are common, and nothing else can follow the name.
    std::string_view rest = scanner.rest();
    while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
    header_.relation = rest;
}

void HeaderReader::read_attribute(const Line& line, Scanner& scanner) {
    Attribute attribute;
    attribute.name = read_name(line, scanner);
    scanner.skip_blanks();
    read_type(line, scanner, attribute);
    scanner.skip_blanks();
    if (!scanner.at_end()) {
        scanner.fail_expected("nothing after the type" + of_attribute(attribute));
    }
    header_.attributes.push_back(std::move(attribute));
    names_.insert(header_.attributes.back().name);
}

std::string HeaderReader::read_name(const Line& line, Scanner& scanner) {
    if (scanner.at_end()) scanner.fail_expected("an attribute name");
    const Token token = scanner.word('{');
    const std::string name(token.text);
    if (!names_.contains(name)) return name;
    if (!rename_duplicates_) {
        line.fail(token.begin, "expected a unique attribute name, found " + show(name) +
                                   ", which an earlier attribute already has; rename it, or pass "
                                   "duplicate_names='rename'");
    }
    for (std::size_t& k = ++n_renamed_[name];; ++k) {
        const std::string renamed = name + "-" + std::to_string(k);
        if (!names_.contains(renamed)) return renamed;
    }
}

void HeaderReader::read_type(const Line& line, Scanner& scanner, Attribute& attribute) {
    if (scanner.peek() == '{') return read_domain(line, scanner, attribute);
    const char* type_at = scanner.at();
    if (scanner.at_end()) scanner.fail_expected(supported_types + of_attribute(attribute));
    const Token token = scanner.word('\0');
    const std::string type = lower_case(token.text);
    if (type == "numeric" || type == "real" || type == "integer") return;
    if (type == "binary") {
        attribute.kind = Kind::nominal;
        attribute.domain = add_domain("1,0", {"1", "0"});
    } else if (type == "string" || type == "key") {
        attribute.kind = Kind::text;
    } else if (type == "hierarchical" || type == "classes") {
        attribute.kind = Kind::labels;
        read_labels(line, scanner, type_at, type == "hierarchical");
    } else if (type == "date") {
        attribute.kind = Kind::text;
        attribute.is_date = true;
        scanner.skip_blanks();
        attribute.date_format =
            scanner.at_end() ? "yyyy-MM-dd'T'HH:mm:ss" : std::string(scanner.word('\0').text);
    } else if (type == "relational") {
        line.fail(type_at, "expected " + std::string(supported_types) + of_attribute(attribute) +
                               ", found " + show(type) +
                               ", which is not supported; convert it to numbers first");
    } else {
        line.fail(type_at, "expected " + std::string(supported_types) + of_attribute(attribute) +
                               ", found " + show(token));
    }
}

void HeaderReader::read_domain(const Line& line, Scanner& scanner, Attribute& attribute) {
    attribute.kind = Kind::nominal;
    scanner.take('{');
    const char* list = scanner.at();
    std::vector<std::string> values;
    std::unordered_set<std::string> seen;
    scanner.skip_blanks();
    while (scanner.peek() != '}') {
        const Token token = scanner.value(',', '}');
        if (token.text.empty() && !token.quoted) {
            line.fail(token.begin, "expected a value" + of_attribute(attribute) +
                                       ", found nothing; write '' for an empty value");
        }
        if (!token.is_missing()) {
            if (!seen.emplace(token.text).second) {
                line.fail(token.begin, "expected distinct values" + of_attribute(attribute) +
                                           ", found " + show(token) + " again");
            }
            values.emplace_back(token.text);
        }
        if (scanner.peek() == '}') break;
        if (!scanner.take(',')) {
            scanner.fail_expected("a closing } after the values" + of_attribute(attribute));
        }
        scanner.skip_blanks();
        if (scanner.peek() == '}') scanner.fail_expected("a value" + of_attribute(attribute));
    }
    attribute.domain = add_domain(std::string(list, scanner.at()), std::move(values));
    scanner.take('}');
}

std::int32_t HeaderReader::add_domain(std::string key, std::vector<std::string> values) {
    const auto next = static_cast<std::int32_t>(header_.domains.size());
    const auto [place, is_new] = domain_of_list_.emplace(std::move(key), next);
    if (is_new) header_.domains.push_back(std::make_unique<const Domain>(std::move(values)));
    return place->second;
}

void HeaderReader::read_labels(const Line& line, Scanner& scanner, const char* type_at,
                               bool declared) {
    if (header_.label_attribute >= 0) {
        line.fail(type_at, "expected only one label attribute, found a second one");
    }
    header_.label_attribute = static_cast<std::int32_t>(header_.attributes.size());
    header_.labels_declared = declared;
    if (!declared) return;
    ColumnCounter columns(line);
    do {
        const Token token = scanner.value(',', ',');
        // Published files end the list with a comma.
        if (token.text.empty() && scanner.at_end() && !header_.declared_labels.empty()) break;
        if (token.text.empty()) {
            line.fail(token.begin, "expected a label, found " + show(token));
        }
        header_.declared_labels.push_back(
            {std::string(token.text), line.number, columns.column(token.begin)});
    } while (scanner.take(','));
}

}  // namespace ramify::arff
