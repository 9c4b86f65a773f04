// Words, quotes, numbers and UTF-8 in one line of an ARFF file, with errors that give the
// position.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::arff {

/// A syntax error in a file: "line 17, column 5: expected a number ..., found 'abc'".
class ParseError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Line {
    std::string_view text;
    std::int64_t number = 0;

    /// Counts characters from 1, as editors do.
    std::int64_t column(const char* at) const;
    [[noreturn]] void fail(const char* at, const std::string& what) const;
};

/// Computes the columns of successive positions without counting from the start each time.
class ColumnCounter {
  public:
    explicit ColumnCounter(const Line& line) : at_(line.text.data()) {}
    std::int64_t column(const char* at);

  private:
    const char* at_;
    std::int64_t column_ = 1;
};

/// A value in the file; `text` is the value without quotes and escapes.
struct Token {
    std::string_view text;
    const char* begin = nullptr;
    bool quoted = false;

    bool is_missing() const { return !quoted && text == "?"; }
};

bool is_blank(char c);
bool is_ascii(std::string_view text);
/// The offset of the first byte that is not valid UTF-8, or npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);
std::string lower_case(std::string_view text);
/// The text in single quotes, shortened and without control characters, for error messages.
std::string show(std::string_view text);
/// show(), or "nothing" for an empty, unquoted token.
std::string show(const Token& token);

enum class NumberStatus { ok, malformed, too_large };
/// Parses the whole text as a double; numbers too small for a double become zero.
NumberStatus parse_number(std::string_view text, double& value);

/// Removes a comment, which starts with an unquoted % at the start of the line or after a blank.
std::string_view without_comment(std::string_view text);

/// Tokenises one line. Tokens with escapes are stored in `scratch` until the next token is read.
class Scanner {
  public:
    Scanner(const Line& line, std::string& scratch)
        : line_(line),
          scratch_(scratch),
          at_(line.text.data()),
          end_(line.text.data() + line.text.size()) {}

    const char* at() const { return at_; }
    const char* end() const { return end_; }
    bool at_end() const { return at_ == end_; }
    char peek() const { return at_ == end_ ? '\0' : *at_; }
    std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
    void move_to(const char* at) { at_ = at; }

    void skip_blanks();
    /// Skips c if it is the next character, and returns whether it was.
    bool take(char c);
    /// A quoted token, or the text up to a blank or `stop`.
    Token word(char stop);
    /// A quoted token, or the text up to `stop` or `other_stop` without the blanks around it.
    Token value(char stop, char other_stop);
    [[noreturn]] void fail(const std::string& what) const { line_.fail(at_, what); }
    /// Fails with "expected ..., found" and the rest of the line.
    [[noreturn]] void fail_expected(const std::string& expected) const;

  private:
    Token quoted();

    const Line& line_;
    std::string& scratch_;
    const char* at_;
    const char* end_;
};

}  // namespace ramify::arff
