#include "arff/scan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace ramify::arff {

namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

/// The length of the UTF-8 sequence at the start of a text, or 0 if it is malformed. Overlong
/// forms, surrogates and code points beyond U+10FFFF are malformed.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i])) return 0;
    }
    const unsigned second = byte(1);
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : length;
}

/// Whether a decimal number outside the range of a double overflows rather than underflows.
bool is_huge(std::string_view digits) {
    const auto exponent_at = digits.find_first_of("eE");
    const std::string_view mantissa = digits.substr(0, exponent_at);
    const auto first = mantissa.find_first_of("123456789");
    if (first == std::string_view::npos) return false;
    const auto point = std::min(mantissa.find('.'), mantissa.size());
    auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    if (exponent_at != std::string_view::npos) {
        std::string_view text = digits.substr(exponent_at + 1);
        const bool negative = text.starts_with('-');
        if (negative || text.starts_with('+')) text.remove_prefix(1);
        // from_chars does not change this value if the exponent itself is out of range.
        std::int64_t exponent = std::numeric_limits<std::int64_t>::max() / 2;
        std::from_chars(text.data(), text.data() + text.size(), exponent);
        magnitude += negative ? -exponent : exponent;
    }
    return magnitude > 0;
}

char unescape(char c) {
    switch (c) {
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return c;
    }
}

}  // namespace

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool is_ascii(std::string_view text) {
    unsigned char seen = 0;
    for (const char c : text) seen |= static_cast<unsigned char>(c);
    return seen < 0x80;
}

std::size_t find_invalid_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = sequence_length(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

std::string show(std::string_view text) {
    constexpr std::size_t max_shown = 60;
    const bool is_long = text.size() > max_shown;
    std::size_t length = is_long ? max_shown : text.size();
    while (is_long && length > 0 && is_continuation(text[length])) --length;
    std::string shown("'");
    shown += text.substr(0, length);
    for (char& c : shown) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    }
    return shown += is_long ? "...'" : "'";
}

std::string show(const Token& token) {
    return token.text.empty() && !token.quoted ? "nothing" : show(token.text);
}

NumberStatus parse_number(std::string_view text, double& value) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return NumberStatus::malformed;
    }
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::invalid_argument || stop != end) return NumberStatus::malformed;
    if (error == std::errc::result_out_of_range) {
        if (is_huge(text)) return NumberStatus::too_large;
        value = text.starts_with('-') ? -0.0 : 0.0;
    }
    // from_chars accepts "nan(...)" and "-nan" as well; these are treated as typing errors.
    if (std::isnan(value) && text.size() != 3) return NumberStatus::malformed;
    return NumberStatus::ok;
}

std::string_view without_comment(std::string_view text) {
    if (text.find('%') == std::string_view::npos) return text;
    char quote = '\0';
    bool starts_token = true;  // a quote in the middle of a word is an apostrophe
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            if (c == '\\') {
                ++i;
            } else if (c == quote) {
                quote = '\0';
            }
            continue;
        }
        if (c == '%' && (i == 0 || is_blank(text[i - 1]))) return text.substr(0, i);
        if (starts_token && (c == '\'' || c == '"')) quote = c;
        starts_token = is_blank(c) || c == ',' || c == '{';
    }
    return text;
}

std::int64_t ColumnCounter::column(const char* at) {
    column_ += std::count_if(at_, at, [](char c) { return !is_continuation(c); });
    at_ = at;
    return column_;
}

std::int64_t Line::column(const char* at) const {
    return ColumnCounter(*this).column(at);
}

void Line::fail(const char* at, const std::string& what) const {
    throw ParseError("line " + std::to_string(number) + ", column " + std::to_string(column(at)) +
                     ": " + what);
}

void Scanner::skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
}

bool Scanner::take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
}

Token Scanner::quoted() {
    const char* begin = at_;
    const char quote = *at_++;
    const char* first = at_;
    while (at_ != end_ && *at_ != quote && *at_ != '\\') ++at_;
    Token token{{first, static_cast<std::size_t>(at_ - first)}, begin, true};
    if (at_ != end_ && *at_ == '\\') {
        scratch_.assign(first, at_);
        while (at_ != end_ && *at_ != quote) {
            if (*at_ == '\\' && at_ + 1 != end_) {
                scratch_ += unescape(at_[1]);
                at_ += 2;
            } else {
                scratch_ += *at_++;
            }
        }
        token.text = scratch_;
    }
    if (at_ == end_) line_.fail(begin, std::string("expected a closing ") + quote);
    ++at_;
    return token;
}

Token Scanner::word(char stop) {
    if (peek() == '\'' || peek() == '"') return quoted();
    const char* begin = at_;
    while (at_ != end_ && !is_blank(*at_) && *at_ != stop) ++at_;
    return {{begin, static_cast<std::size_t>(at_ - begin)}, begin, false};
}

Token Scanner::value(char stop, char other_stop) {
    skip_blanks();
    if (peek() == '\'' || peek() == '"') {
        Token token = quoted();
        skip_blanks();
        if (at_ != end_ && *at_ != stop && *at_ != other_stop) {
            fail_expected(std::string("'") + stop + "' after the quoted value");
        }
        return token;
    }
    const char* begin = at_;
    while (at_ != end_ && *at_ != stop && *at_ != other_stop) ++at_;
    const char* last = at_;
    while (last != begin && is_blank(last[-1])) --last;
    return {{begin, static_cast<std::size_t>(last - begin)}, begin, false};
}

void Scanner::fail_expected(const std::string& expected) const {
    fail("expected " + expected + ", found " +
         (at_end() ? std::string("the end of the line") : show(rest())));
}

}  // namespace ramify::arff
