#include "single_target/marking_search.hpp"

#include <algorithm>
#include <bit>

#include "common/simd.hpp"

namespace ramify {

namespace {

/// before[w]: bits of all words before w.
RAMIFY_ANY_WIDTH
void count_before(const std::uint64_t* words, std::size_t n_words, std::uint32_t* before) {
    std::uint32_t n = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        before[w] = n;
        n += static_cast<std::uint32_t>(std::popcount(words[w]));
    }
}

/// Rows of the node before and up to each code. Some machines count bits by one instruction.
RAMIFY_ANY_WIDTH
void count_rows(const MarkedFeature& feature, const std::uint32_t* before,
                const std::uint32_t* code, std::size_t n, double* above, double* to) {
    if (feature.all_differ) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint64_t below = (std::uint64_t{1} << (code[k] % 64)) - 1;
            const auto here = std::popcount(feature.members[code[k] / 64] & below);
            above[k] =
                static_cast<double>(before[code[k] / 64] + static_cast<std::uint32_t>(here));
            to[k] = above[k] + 1;
        }
        return;
    }
    for (std::size_t k = 0; k < 2 * n; ++k) {
        const std::size_t position = feature.start[code[k / 2] + k % 2];
        const std::uint64_t below = (std::uint64_t{1} << (position % 64)) - 1;
        const auto here = std::popcount(feature.members[position / 64] & below);
        (k % 2 == 0 ? above : to)[k / 2] =
            static_cast<double>(before[position / 64] + static_cast<std::uint32_t>(here));
    }
}

/// Sums over both sides of a place; `parts` is (Q1 / W1 + Q2 / W2) W1 W2.
struct Sides {
    double square;
    double rest_square;
    double rest;

    Sides(const MarkedNode& node, double left, double n, double rare_square, double rare_cross)
        : rest(node.weight - left) {
        const double others = left - n;  // of the commonest class
        square = rare_square + others * others;
        rest_square = node.square - 2 * (rare_cross + others * node.major) + square;
    }
    double parts(double left) const { return square * rest + rest_square * left; }
};

/// Whether Q1 / W1 + Q2 / W2 exceeds what is needed at any of the places.
RAMIFY_ANY_WIDTH
bool any_exceeds(const MarkedNode& node, const double* left, const double* count,
                 const double* square, const double* cross, std::size_t n, double needed) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const Sides sides(node, left[k], count[k], square[k], cross[k]);
        found |=
            static_cast<std::uint64_t>(sides.parts(left[k]) > needed * (left[k] * sides.rest));
    }
    return found != 0;
}

}  // namespace

void RareCodes::make_room(std::size_t n_codes) {
    if (code.size() > n_codes) return;
    code.resize(n_codes + 1);
    for (auto* sums : {&n, &square, &cross, &above, &to}) sums->resize(n_codes + 1);
}

void MarkingSearch::make_room(std::size_t n_rare, std::size_t n_words) {
    codes_.make_room(n_rare);
    before_.resize(n_words);
}

bool MarkingSearch::search(const MarkedNode& node, const MarkedFeature& feature,
                           MarkedTest& best) {
    const std::size_t n = list_codes(node, feature);
    std::ranges::fill(moved_, 0u);
    count_before(feature.members, feature.n_words, before_.data());
    count_rows(feature, before_.data(), codes_.code.data(), n, codes_.above.data(),
               codes_.to.data());
    const double needed = node.square / node.weight + best.gain + node.tolerance;
    const double* count = codes_.n.data();
    const double* square = codes_.square.data();
    const double* cross = codes_.cross.data();
    return (any_exceeds(node, codes_.above.data(), count, square, cross, n, needed) ||
            any_exceeds(node, codes_.to.data(), count + 1, square + 1, cross + 1, n, needed)) &&
           choose_place(node, n, best);
}

/// Returns how many codes there are. Sums are whole numbers, as each waits for the one before.
std::size_t MarkingSearch::list_codes(const MarkedNode& node, const MarkedFeature& feature) {
    std::size_t n = 0;
    std::int64_t count = 0;
    std::int64_t square = 0;
    std::int64_t cross = 0;
    std::uint32_t last = 0;
    const auto put_sums = [&] {
        codes_.n[n] = static_cast<double>(count);
        codes_.square[n] = static_cast<double>(square);
        codes_.cross[n] = static_cast<double>(cross);
    };
    for (std::size_t w = 0; w < feature.n_words; ++w) {
        for (auto word = feature.rare[w]; word != 0; word &= word - 1) {
            const std::size_t position = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
            const auto row = feature.row[position];
            const auto code =
                feature.all_differ ? static_cast<std::uint32_t>(position) : feature.code[row];
            if (n == 0 || code != last) {
                put_sums();
                codes_.code[n++] = last = code;
            }
            const auto kind = node.class_of[row];
            const std::uint32_t moved = moved_[kind]++;
            count += 1;
            square += 2 * moved + 1;
            cross += node.total[kind];
        }
        feature.rare[w] = 0;
    }
    put_sums();
    return n;
}

/// Beside each rare code, before it and after it.
bool MarkingSearch::choose_place(const MarkedNode& node, std::size_t n, MarkedTest& best) const {
    bool found = false;
    for (std::size_t k = 0; k < n; ++k) {
        if (try_place(node, k, codes_.above[k], best)) {
            best.bound = codes_.code[k];
            found = true;
        }
        if (try_place(node, k + 1, codes_.to[k], best)) {
            best.bound = codes_.code[k] + 1;
            found = true;
        }
    }
    return found;
}

bool MarkingSearch::try_place(const MarkedNode& node, std::size_t sums, double left,
                              MarkedTest& best) const {
    if (left <= 0 || left >= node.weight) return false;
    const Sides sides(node, left, codes_.n[sums], codes_.square[sums], codes_.cross[sums]);
    const double gain =
        sides.square / left + sides.rest_square / sides.rest - node.square / node.weight;
    if (!(gain > best.gain + node.tolerance)) return false;
    best.gain = gain;
    best.left = left;
    return true;
}

}  // namespace ramify
