#include "single_target/rare_class.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/simd.hpp"
#include "common/tolerance.hpp"

namespace ramify {

static_assert(FeatureSearch<RareClassSearch>);

namespace {

std::vector<std::uint16_t> list_classes(const Targets& targets, std::size_t n_rows) {
    const auto& labels = targets.labels;
    std::vector<std::uint16_t> classes(n_rows, 0);
    for (std::size_t r = 0; r < n_rows; ++r) {
        if (labels.indptr[r] == labels.indptr[r + 1]) continue;
        const auto label = labels.indices[static_cast<std::size_t>(labels.indptr[r])];
        classes[r] = targets.n_labels() == 1 ? 1 : static_cast<std::uint16_t>(label);
    }
    return classes;
}

/// Sums over both sides of a place; `parts` is (Q1 / W1 + Q2 / W2) W1 W2.
struct Sides {
    double square;
    double rest_square;
    double rest;

    Sides(const RareClassSearch::View& node, double left, double n, double rare_square,
          double rare_cross)
        : rest(node.weight - left) {
        const double others = left - n;  // of the most frequent class
        square = rare_square + others * others;
        rest_square = node.square - 2 * (rare_cross + others * node.major) + square;
    }
    double parts(double left) const { return square * rest + rest_square * left; }
};

/// Whether Q1 / W1 + Q2 / W2 > needed at any of the places.
RAMIFY_ANY_WIDTH
bool any_exceeds(const RareClassSearch::View& node, const double* left, const double* count,
                 const double* square, const double* cross, std::size_t n, double needed) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const Sides sides(node, left[k], count[k], square[k], cross[k]);
        found |=
            static_cast<std::uint64_t>(sides.parts(left[k]) > needed * (left[k] * sides.rest));
    }
    return found != 0;
}

/// before[w]: bits of all words before w.
RAMIFY_ANY_WIDTH
void count_before(const std::uint64_t* words, std::size_t n_words, std::uint32_t* before) {
    std::uint32_t n = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        before[w] = n;
        n += static_cast<std::uint32_t>(std::popcount(words[w]));
    }
}

/// Rows of the node before and up to each code. Compiled for each width, as some machines count
/// bits with one instruction.
RAMIFY_ANY_WIDTH
void count_rows(const RareClassSearch::Column& column, const std::uint32_t* before,
                const std::uint32_t* code, std::size_t n, double* above, double* to) {
    if (column.all_differ) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint64_t below = (std::uint64_t{1} << (code[k] % 64)) - 1;
            const auto here = std::popcount(column.members[code[k] / 64] & below);
            above[k] =
                static_cast<double>(before[code[k] / 64] + static_cast<std::uint32_t>(here));
            to[k] = above[k] + 1;
        }
        return;
    }
    for (std::size_t k = 0; k < 2 * n; ++k) {
        const std::size_t position = column.start[code[k / 2] + k % 2];
        const std::uint64_t below = (std::uint64_t{1} << (position % 64)) - 1;
        const auto here = std::popcount(column.members[position / 64] & below);
        (k % 2 == 0 ? above : to)[k / 2] =
            static_cast<double>(before[position / 64] + static_cast<std::uint32_t>(here));
    }
}

bool has_bit(const std::uint64_t* words, std::size_t position) {
    return (words[position / 64] >> (position % 64) & 1) != 0;
}

}  // namespace

RareClassSearch::Shared::Shared(const Dataset& data, const Targets& targets,
                                const SplitRules& split_rules)
    : dataset(data),
      codes(data.codes->of(data)),
      positions(data.codes->positions_of(data)),
      rules(split_rules),
      one_label(targets.n_labels() == 1),
      label_weight(targets.label_weight[0]),
      class_of(list_classes(targets, data.n_rows)),
      n_classes(one_label ? 2 : targets.n_labels()),
      n_words(data.n_rows / 64 + 1) {}

RareClassSearch::RareClassSearch(const Shared& shared)
    : shared_(shared),
      rare_(shared.n_words, 0),
      before_(shared.n_words, 0),
      moved_(shared.n_classes, 0) {}

// ---- nodes ---------------------------------------------------------------------------------

double RareClassSearch::Node::square() const {
    double sum = 0;
    for (const double n : total) sum += n * n;
    return sum;
}

RareClassSearch::Node RareClassSearch::make_root(const NodeRows& rows) const {
    Node root{rows.row, std::vector<std::uint32_t>(shared_.n_classes, 0), {}};
    for (const auto row : rows.row) root.total[shared_.class_of[row]] += 1;
    return root;
}

bool RareClassSearch::is_impure(const Node& node) const {
    return *std::ranges::max_element(node.total) < node.size() && shared_.label_weight > 0;
}

double RareClassSearch::impurity(const Node& node) const {
    return shared_.scale() * std::max(0.0, node.weight() - node.square() / node.weight());
}

void RareClassSearch::list_values(const Node& node, std::vector<LabelSum>& values) const {
    values.clear();
    if (shared_.one_label) {
        values.push_back({0, static_cast<double>(node.total[1]), shared_.label_weight});
        return;
    }
    for (std::size_t c = 0; c < shared_.n_classes; ++c) {
        if (node.total[c] == 0) continue;
        values.push_back({static_cast<std::int32_t>(c), static_cast<double>(node.total[c]),
                          shared_.label_weight});
    }
}

void RareClassSearch::divide(const Node& node, const Test& test,
                             std::span<Node, 2> branches) const {
    const std::uint16_t* code = shared_.codes.column(static_cast<std::size_t>(test.feature));
    for (Node& branch : branches) branch.total.assign(shared_.n_classes, 0);
    for (const auto row : node.rows) {
        Node& branch = branches[code[row] < test.bound ? 0 : 1];
        branch.rows.push_back(row);
        branch.total[shared_.class_of[row]] += 1;
    }
}

Split RareClassSearch::as_split(const Node& node, const Test& test) const {
    const auto f = static_cast<std::size_t>(test.feature);
    const std::uint64_t* members = node.summary.data() + f * shared_.n_words;
    const std::uint16_t* row = shared_.positions.row.data() + f * shared_.dataset.n_rows;
    const auto& values = shared_.dataset.features[f].values;
    // The rows of the node next to the bound, on either side.
    std::size_t last = shared_.positions.start[shared_.codes.first_cell[f] + test.bound];
    std::size_t first = last;
    do {
        --last;
    } while (!has_bit(members, last));
    while (!has_bit(members, first)) ++first;
    const double upper = values[shared_.codes.column(f)[row[last]]];
    const double lower = values[shared_.codes.column(f)[row[first]]];
    const double share = test.left / node.weight();
    Split split;
    split.feature = test.feature;
    split.gain = test.score * shared_.scale();
    split.score = split.gain * shared_.rules.score_factor;
    split.share = {share, 1 - share};
    split.threshold = threshold_between(upper, lower, shared_.rules.midpoint);
    return split;
}

void RareClassSearch::flip_rows(std::uint32_t feature, ListedRows rows, Summary& summary) const {
    const std::uint16_t* position =
        shared_.positions.position.data() + feature * shared_.dataset.n_rows;
    std::uint64_t* words = summary.data() + feature * shared_.n_words;
    for (const auto row : rows) {
        words[position[row] / 64] ^= std::uint64_t{1} << (position[row] % 64);
    }
}

// ---- search --------------------------------------------------------------------------------

RareClassSearch::View RareClassSearch::begin(const Node& node) {
    const auto most = std::ranges::max_element(node.total);
    const auto major = static_cast<std::uint16_t>(most - node.total.begin());
    rare_rows_.clear();
    for (const auto row : node.rows) {
        if (shared_.class_of[row] != major) rare_rows_.push_back(row);
    }
    const double weight = node.weight();
    const double square = node.square();
    return {node,
            rare_rows_,
            weight,
            square,
            static_cast<double>(*most),
            relative_tolerance * (weight - square / weight)};
}

RareClassSearch::Column RareClassSearch::column(const View& view, std::uint32_t feature) const {
    const std::size_t n_rows = shared_.dataset.n_rows;
    return {view.node.summary.data() + feature * shared_.n_words,
            shared_.positions.row.data() + feature * n_rows, shared_.codes.column(feature),
            shared_.positions.start.data() + shared_.codes.first_cell[feature],
            shared_.codes.n_values[feature] == n_rows};
}

Found RareClassSearch::search(const View& view, std::uint32_t feature, double beat, Test& found) {
    const std::uint16_t* position =
        shared_.positions.position.data() + feature * shared_.dataset.n_rows;
    for (const auto row : view.rare_rows) {
        rare_[position[row] / 64] |= std::uint64_t{1} << (position[row] % 64);
    }
    codes_.make_room(view.rare_rows.size());
    const Column ordered = column(view, feature);
    const std::size_t n = list_codes(view, ordered);
    std::ranges::fill(moved_, 0u);
    count_before(ordered.members, shared_.n_words, before_.data());
    count_rows(ordered, before_.data(), codes_.code.data(), n, codes_.above.data(),
               codes_.to.data());
    const double needed = view.square / view.weight + beat;
    const double* count = codes_.n.data();
    const double* square = codes_.square.data();
    const double* cross = codes_.cross.data();
    if (!any_exceeds(view, codes_.above.data(), count, square, cross, n, needed) &&
        !any_exceeds(view, codes_.to.data(), count + 1, square + 1, cross + 1, n, needed)) {
        return Found::nothing;
    }
    found = {static_cast<std::int32_t>(feature)};
    choose_place(view, n, found);
    return found.score > 0 ? Found::test : Found::nothing;
}

void RareClassSearch::RareCodes::make_room(std::size_t n_codes) {
    if (code.size() > n_codes) return;
    code.resize(n_codes + 1);
    for (auto* sums : {&n, &square, &cross, &above, &to}) sums->resize(n_codes + 1);
}

/// Returns how many codes there are. Integers are summed: each sum waits for the one before.
std::size_t RareClassSearch::list_codes(const View& view, const Column& column) {
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
    for (std::size_t w = 0; w < shared_.n_words; ++w) {
        for (auto word = rare_[w]; word != 0; word &= word - 1) {
            const std::size_t position = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
            const auto row = column.row[position];
            const auto code =
                column.all_differ ? static_cast<std::uint32_t>(position) : column.code[row];
            if (n == 0 || code != last) {
                put_sums();
                codes_.code[n++] = last = code;
            }
            const auto kind = shared_.class_of[row];
            const std::uint32_t moved = moved_[kind]++;
            count += 1;
            square += 2 * moved + 1;
            cross += view.node.total[kind];
        }
        rare_[w] = 0;
    }
    put_sums();
    return n;
}

/// Tries the places before and after each rare code.
void RareClassSearch::choose_place(const View& view, std::size_t n, Test& found) const {
    for (std::size_t k = 0; k < n; ++k) {
        if (try_place(view, k, codes_.above[k], found)) found.bound = codes_.code[k];
        if (try_place(view, k + 1, codes_.to[k], found)) found.bound = codes_.code[k] + 1;
    }
}

bool RareClassSearch::try_place(const View& view, std::size_t sums, double left,
                                Test& found) const {
    if (left <= 0 || left >= view.weight) return false;
    const Sides sides(view, left, codes_.n[sums], codes_.square[sums], codes_.cross[sums]);
    const double gain =
        sides.square / left + sides.rest_square / sides.rest - view.square / view.weight;
    if (!(gain > found.score + view.tolerance)) return false;
    found.score = gain;
    found.left = left;
    return true;
}

template Tree grow_single_target<RareClassSearch>(const Dataset&, const Targets&, const NodeRows&,
                                                  const GrowOptions&, StopSignal&);

}  // namespace ramify
