#include "arff/arff.hpp"

#include <stdexcept>

namespace ramify::arff {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_comment(std::string_view text) {
    for (const char c : text) {
        if (!is_blank(c)) return c == '%';
    }
    return false;
}

std::string hexadecimal(char byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    const auto value = static_cast<unsigned char>(byte);
    return std::string("0x") + digits[value >> 4] + digits[value & 15];
}

}  // namespace

template <typename Step>
void Parser::guarded(Step step) {
    check_reading();
    state_ = State::failed;  // stays set if step() throws, e.g. std::bad_alloc
    step();
    state_ = State::reading;
}

void Parser::feed(std::string_view bytes) {
    guarded([&] { feed_lines(bytes); });
}

void Parser::finish() {
    guarded([&] {
        if (!pending_.empty()) read_line(pending_);
        pending_ = {};
        if (!rows_) {
            throw ParseError("line " + std::to_string(n_lines_) +
                             ": expected @data, found the end of the file");
        }
    });
    state_ = State::finished;
}

Rows& Parser::rows() {
    if (state_ != State::finished) throw std::logic_error("the file has not been read to its end");
    return rows_->rows();
}

void Parser::check_reading() const {
    if (state_ == State::finished)
        throw std::logic_error("the file has already been read to its end");
    if (state_ == State::failed) throw std::logic_error("an earlier line could not be parsed");
}

void Parser::feed_lines(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t stop = bytes.find('\n');
        if (stop == std::string_view::npos) {
            pending_ += bytes;
            return;
        }
        if (pending_.empty()) {
            read_line(bytes.substr(0, stop));
        } else {
            pending_ += bytes.substr(0, stop);
            read_line(pending_);
            pending_.clear();
        }
        bytes.remove_prefix(stop + 1);
    }
}

void Parser::read_line(std::string_view text) {
    ++n_lines_;
    const char* begin = text.data();
    const auto n_bytes = static_cast<std::int64_t>(text.size()) + 1;
    if (n_lines_ == 1 && text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
    }
    if (!is_comment(text)) {
        check_encoding(text, n_bytes_ + (text.data() - begin));
        const Line line{without_comment(text), n_lines_};
        if (rows_) {
            rows_->read(line);
        } else if (header_.read(line)) {
            rows_ = std::make_unique<RowReader>(header_.header(), options_.index_base);
        }
    }
    n_bytes_ += n_bytes;
}

void Parser::check_encoding(std::string_view text, std::int64_t offset) const {
    if (is_ascii(text)) return;
    const std::size_t at = find_invalid_utf8(text);
    if (at == std::string_view::npos) return;
    Line{text, n_lines_}.fail(
        text.data() + at,
        "expected text in utf-8, found byte " + hexadecimal(text[at]) + " at offset " +
            std::to_string(offset + static_cast<std::int64_t>(at)) +
            "; pass encoding= with the file's encoding, for instance encoding='latin-1'");
}

}  // namespace ramify::arff
