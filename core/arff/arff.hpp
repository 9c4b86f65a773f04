// A streaming parser of ARFF files as written by CLUS, Weka and Mulan: bytes in, arrays out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "arff/header.hpp"
#include "arff/rows.hpp"
#include "arff/scan.hpp"

namespace ramify::arff {

struct Options {
    std::int64_t index_base =
        0;  ///< first attribute index in sparse rows: 0 (Weka, Mulan) or 1 (CLUS)
    bool rename_duplicates = false;
};

/// Parses a file that is fed in chunks of any size. Input that is not valid ARFF throws
/// ParseError; afterwards every call throws std::logic_error.
class Parser {
  public:
    explicit Parser(Options options) : options_(options), header_(options.rename_duplicates) {}
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    void feed(std::string_view bytes);
    /// Parses the last line. Call it once, after all bytes have been fed.
    void finish();

    const Header& header() const { return header_.header(); }
    /// The parsed rows; requires finish(). The caller may move parts of the result out.
    Rows& rows();

  private:
    enum class State { reading, finished, failed };

    void check_reading() const;
    template <typename Step>
    void guarded(Step step);
    void feed_lines(std::string_view bytes);
    void read_line(std::string_view text);
    /// `offset` is the position of the first byte of `text` in the file.
    void check_encoding(std::string_view text, std::int64_t offset) const;

    Options options_;
    HeaderReader header_;
    std::unique_ptr<RowReader> rows_;  ///< set once @data has been read
    std::string pending_;              ///< the start of an incomplete line
    std::int64_t n_lines_ = 0;
    std::int64_t n_bytes_ = 0;  ///< bytes before the current line
    State state_ = State::reading;
};

}  // namespace ramify::arff
