// A streaming reader of ARFF files as CLUS, Weka and Mulan write them: bytes in, arrays out.
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
    std::int64_t index_base = 0;  ///< first index of sparse rows: 0 (Weka, Mulan) or 1 (CLUS)
    bool rename_duplicates = false;
};

/// Takes a file in pieces of any size. Any bytes may come; what is no ARFF throws ParseError,
/// after which the parser only throws.
class Parser {
  public:
    explicit Parser(Options options) : options_(options), header_(options.rename_duplicates) {}
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    void feed(std::string_view bytes);
    /// Reads the last line; call it once, after all bytes.
    void finish();

    const Header& header() const { return header_.header(); }
    /// What the rows hold, once finished. The caller may move parts of it out.
    Rows& rows();

  private:
    enum class State { reading, finished, failed };

    void check_reading() const;
    template <typename Step>
    void guarded(Step step);
    void feed_lines(std::string_view bytes);
    void read_line(std::string_view text);
    /// `offset`: of the text's first byte in the file.
    void check_encoding(std::string_view text, std::int64_t offset) const;

    Options options_;
    HeaderReader header_;
    std::unique_ptr<RowReader> rows_;  ///< from @data on
    std::string pending_;              ///< the start of a line whose end has not come yet
    std::int64_t n_lines_ = 0;
    std::int64_t n_bytes_ = 0;  ///< before the current line
    State state_ = State::reading;
};

}  // namespace ramify::arff
