#include "single_target/counting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/simd.hpp"
#include "common/tolerance.hpp"

namespace ramify {

static_assert(FeatureSearch<CountingSearch>);

namespace {

/// The sum of P^2 / W over both sides: a gain plus what it is measured from.
double parted(double positive, double weight, double other_positive, double other_weight) {
    return positive * positive / weight + other_positive * other_positive / other_weight;
}

/// Whether p^2 / w + (P - p)^2 / (W - w) > needed for any of the sums w and p.
RAMIFY_ANY_WIDTH
bool any_exceeds(const double* weight, const double* positive, std::size_t n, double W, double P,
                 double needed) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double rest = W - weight[k];
        const double other = P - positive[k];
        const double parts = positive[k] * positive[k] * rest + other * other * weight[k];
        found |= static_cast<std::uint64_t>(parts > needed * (weight[k] * rest));
    }
    return found != 0;
}

}  // namespace

CountingSearch::Shared::Shared(const Dataset& data, const Targets& targets,
                               const SplitRules& split_rules)
    : dataset(data),
      codes(data.codes->of(data)),
      rules(split_rules),
      label_weight(targets.label_weight[0]),
      positive(data.n_rows) {
    const auto& indptr = targets.labels.indptr;
    for (std::size_t r = 0; r < data.n_rows; ++r) positive[r] = indptr[r] < indptr[r + 1];
}

CountingSearch::CountingSearch(const Shared& shared)
    : shared_(shared),
      scale_(shared.label_weight * shared.rules.score_factor),
      min_rows_(rounded_down(shared.rules.min_samples_leaf)),
      min_weight_(rounded_down(shared.rules.min_weight)) {}

// ---- nodes ---------------------------------------------------------------------------------

void CountingSearch::Node::add(std::uint32_t row, double weight, double part, bool positive) {
    rows.push_back(row, weight, part);
    sums = sums + Sums{weight, positive ? weight : 0.0, part};
    whole &= weight == 1.0 && part == 1.0;
}

CountingSearch::Node CountingSearch::make_root(const NodeRows& rows) const {
    Node root;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        root.add(rows.row[e], rows.weight[e], rows.part[e], shared_.positive[rows.row[e]] != 0);
    }
    return root;
}

bool CountingSearch::is_impure(const Node& node) const {
    return node.sums.positive > 0 && node.sums.positive < node.sums.weight &&
           shared_.label_weight > 0;
}

double CountingSearch::impurity(const Node& node) const {
    const double share = node.sums.positive / node.sums.weight;
    return std::max(0.0, node.sums.positive * (1 - share)) * shared_.label_weight;
}

void CountingSearch::list_values(const Node& node, std::vector<LabelSum>& values) const {
    values.assign(1, {0, node.sums.positive, shared_.label_weight});
}

void CountingSearch::divide(const Node& node, const Test& test,
                            std::span<Node, 2> branches) const {
    const auto f = static_cast<std::size_t>(test.feature);
    const std::uint16_t* column = shared_.codes.column(f);
    const std::uint32_t missing = shared_.codes.n_values[f];
    std::vector<char> is_first(missing, 0);  // per code: whether it goes to the first branch
    if (shared_.dataset.features[f].kind == FeatureKind::nominal) {
        for (const auto code : test.categories) is_first[code] = 1;
    } else {
        std::fill_n(is_first.begin(), test.upper + 1, char{1});
    }
    const auto hand = [&](Node& branch, std::size_t e, double share) {
        const auto row = node.rows.row[e];
        branch.add(row, node.rows.weight[e] * share, node.rows.part[e] * share,
                   shared_.positive[row] != 0);
    };
    for (std::size_t e = 0; e < node.rows.size(); ++e) {
        const std::uint32_t code = column[node.rows.row[e]];
        if (code == missing) {
            hand(branches[0], e, test.share());
            hand(branches[1], e, 1 - test.share());
        } else {
            hand(branches[is_first[code] ? 0 : 1], e, 1.0);
        }
    }
}

Split CountingSearch::as_split(const Node&, const Test& test) const {
    const Feature& feature = shared_.dataset.features[static_cast<std::size_t>(test.feature)];
    Split split;
    split.feature = test.feature;
    split.score = test.score;
    split.gain = test.gain * shared_.label_weight;
    split.share = {test.share(), 1 - test.share()};
    if (feature.kind == FeatureKind::nominal) {
        // Declared categories that do not occur in the node go to the second branch.
        split.category_branch.assign(static_cast<std::size_t>(feature.n_categories), 1);
        for (const auto code : test.categories) split.category_branch[code] = 0;
    } else {
        split.threshold = threshold_between(feature.values[test.upper], feature.values[test.lower],
                                            shared_.rules.midpoint);
    }
    return split;
}

// ---- sums by value -------------------------------------------------------------------------

template <typename Cell>
Tally<Cell>& CountingSearch::tally() {
    auto& made = std::get<std::optional<Tally<Cell>>>(tallies_);
    if (!made) made.emplace(shared_.codes.max_values);
    return *made;
}

template <typename Cell>
std::span<const Cell> CountingSearch::list_steps(const NodeRows& rows, bool turned) {
    auto& steps = std::get<std::vector<Cell>>(steps_);
    steps.resize(rows.size());
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const bool positive = (shared_.positive[rows.row[e]] != 0) != turned;
        steps[e] = Cell::of(rows.weight[e], rows.part[e], positive);
    }
    return steps;
}

bool CountingSearch::summary_pays(const Node& node) const {
    const CodeColumns& codes = shared_.codes;
    return node.whole && node.size() * codes.n_values.size() >= 2 * codes.n_cells;
}

CountingSearch::ListedRows CountingSearch::list_rows(const Node& node) {
    return {node.rows.row, list_steps<CountCell>(node.rows, false)};
}

void CountingSearch::add_rows(std::uint32_t feature, const ListedRows& listed, Summary& summary) {
    const CodeColumns& codes = shared_.codes;
    tally<CountCell>().add(codes.column(feature), codes.n_values[feature], listed.rows,
                           listed.steps, summary.data() + codes.first_cell[feature]);
}

void CountingSearch::take_out(std::uint32_t feature, const ListedRows& listed, Summary& from,
                              Summary& part) {
    add_rows(feature, listed, part);
    const auto first = shared_.codes.first_cell[feature];
    for (auto k = first; k <= first + shared_.codes.n_values[feature]; ++k) {
        from[k] = from[k] - part[k];
    }
}

// ---- search --------------------------------------------------------------------------------

CountingSearch::View CountingSearch::begin(const Node& node) {
    View view{node, node.sums, false, 0, {}};
    Sums& sums = view.sums;
    view.tolerance =
        relative_tolerance * sums.positive * (1 - sums.positive / sums.weight) * scale_;
    // Rows of the rarer kind are counted: differences of small numbers lose fewer digits.
    view.turned = 2 * sums.positive > sums.weight;
    if (view.turned) sums.positive = sums.weight - sums.positive;
    if (!node.summary.empty()) return view;
    // Counts are turned when they are read, so that a summary serves either way.
    if (node.whole) {
        std::get<0>(view.steps) = list_steps<CountCell>(node.rows, false);
    } else if (std::ranges::equal(node.rows.weight, node.rows.part)) {
        std::get<1>(view.steps) = list_steps<PartCell>(node.rows, view.turned);
    } else {
        std::get<2>(view.steps) = list_steps<WeightCell>(node.rows, view.turned);
    }
    return view;
}

template <typename Cell>
const Profile& CountingSearch::count(const View& view, std::uint32_t feature) {
    const CodeColumns& codes = shared_.codes;
    auto& cells = tally<Cell>();
    cells.turn(view.turned);
    return cells.count(codes.column(feature), codes.n_values[feature], view.node.rows.row,
                       std::get<std::span<const Cell>>(view.steps));
}

const Profile& CountingSearch::profile(const View& view, std::uint32_t feature) {
    if (!view.node.summary.empty()) {
        const CodeColumns& codes = shared_.codes;
        tally<CountCell>().turn(view.turned);
        return tally<CountCell>().read(view.node.summary.data() + codes.first_cell[feature],
                                       codes.n_values[feature]);
    }
    if (!std::get<0>(view.steps).empty()) return count<CountCell>(view, feature);
    if (!std::get<1>(view.steps).empty()) return count<PartCell>(view, feature);
    return count<WeightCell>(view, feature);
}

Found CountingSearch::search(const View& view, std::uint32_t feature, double beat, Test& found) {
    const Profile& sums = profile(view, feature);
    const Known known = known_rows(view, view.sums - sums.missing);
    found.feature = static_cast<std::int32_t>(feature);
    found.score = 0;
    found.known = known.sums.weight;
    found.categories.clear();
    return shared_.dataset.features[feature].kind == FeatureKind::nominal
               ? choose_categories(known, sums, view.tolerance, found)
               : scan_values(known, sums, beat, view.tolerance, found);
}

CountingSearch::Known CountingSearch::known_rows(const View& view, const Sums& sums) const {
    Known known{sums};
    known.min_gain = view.tolerance / scale_;
    if (sums.weight <= 0) return known;
    known.part = sums.positive * sums.positive / sums.weight;
    known.impurity = std::max(0.0, sums.positive - known.part);
    const auto& critical = shared_.rules.f_critical;
    if (critical.empty()) return known;
    // The F-test compares df * gain / (SS - gain) with a critical value; see ScanSplitter.
    const double freedom = std::floor(sums.weight - 2 + 0.5);
    if (freedom > 0 && known.impurity > 0) {
        const auto place = std::min(critical.size() - 1, static_cast<std::size_t>(freedom));
        known.min_gain = std::max(known.min_gain,
                                  critical[place] * known.impurity / (freedom + critical[place]));
    } else {
        known.min_gain = std::numeric_limits<double>::infinity();
    }
    return known;
}

bool CountingSearch::large_enough(const Known& known, const Sums& left) const {
    const double rest = known.sums.weight - left.weight;
    return left.rows >= min_rows_ && known.sums.rows - left.rows >= min_rows_ &&
           left.weight >= min_weight_ && rest >= min_weight_ && left.weight > 0 && rest > 0;
}

Found CountingSearch::scan_values(const Known& known, const Profile& profile, double beat,
                                  double tolerance, Test& found) const {
    // The first and the last value after which both sides are large enough.
    const double* rows = profile.rows.empty() ? profile.weight.data() : profile.rows.data();
    std::size_t first = 0;
    std::size_t last = profile.size;
    while (first < last && rows[first] <= 0) ++first;
    while (last > first && rows[last - 1] >= rows[profile.size - 1]) --last;
    if (first == last) return Found::constant;
    while (first < last && rows[first] < min_rows_) ++first;
    while (last > first && known.sums.rows - rows[last - 1] < min_rows_) --last;
    if (!any_exceeds(profile.weight.data() + first, profile.positive.data() + first, last - first,
                     known.sums.weight, known.sums.positive,
                     known.part + gain_above(known, beat))) {
        return Found::nothing;
    }
    for (std::size_t k = first; k < last; ++k) {
        const double w = profile.weight[k];
        const double p = profile.positive[k];
        if (!large_enough(known, profile.sums(k))) continue;
        const double gain =
            parted(p, w, known.sums.positive - p, known.sums.weight - w) - known.part;
        // A value that does not occur repeats the test before it, and is no better.
        if (!(gain > gain_above(known, found.score + tolerance)) ||
            gain > known.impurity * (1 + 1e-6)) {
            continue;
        }
        // Tiny weights may vanish in sums of huge ones; the last value ends the search.
        std::size_t next = k + 1;
        while (next + 1 < profile.size && profile.weight[next] <= w) ++next;
        found.score = gain * scale_;
        found.gain = gain;
        found.left = w;
        found.upper = profile.code(k);
        found.lower = profile.code(next);
    }
    return found.score > 0 ? Found::test : Found::nothing;
}

void CountingSearch::list_categories(const Profile& profile) {
    categories_.clear();
    Sums before;
    for (std::size_t k = 0; k < profile.size; ++k) {
        const Sums up_to = profile.sums(k);
        if (up_to.rows > before.rows) categories_.push_back({profile.code(k), up_to - before});
        before = up_to;
    }
}

/// Greedy forward selection: adds the category that helps most as long as one helps.
Found CountingSearch::choose_categories(const Known& known, const Profile& profile,
                                        double tolerance, Test& found) {
    list_categories(profile);
    if (categories_.size() < 2) return Found::constant;
    const auto& feature = shared_.dataset.features[static_cast<std::size_t>(found.feature)];
    // Two declared categories make one test, "is it the first?".
    const bool pair = feature.n_categories == 2;
    const bool single = pair || shared_.rules.nominal_tests == NominalTests::single;
    Sums left;
    for (std::int32_t round = 0; round < (single ? 1 : feature.n_categories - 1); ++round) {
        Category* pick = best_category(known, left, tolerance, pair, found);
        if (pick == nullptr) break;
        pick->chosen = true;
        left = left + pick->sums;
    }
    found.left = left.weight;
    for (const auto& category : categories_) {
        if (category.chosen) found.categories.push_back(category.code);
    }
    return found.score > 0 ? Found::test : Found::nothing;
}

/// The category that raises the score most when it joins the first branch; null if none does.
CountingSearch::Category* CountingSearch::best_category(const Known& known, const Sums& left,
                                                        double tolerance, bool pair, Test& found) {
    Category* best = nullptr;
    for (std::size_t k = 0; k < (pair ? 1 : categories_.size()); ++k) {
        Category& category = categories_[k];
        const Sums with = left + category.sums;
        if (category.chosen || !large_enough(known, with)) continue;
        const Sums rest = known.sums - with;
        const double gain =
            parted(with.positive, with.weight, rest.positive, rest.weight) - known.part;
        if (gain > gain_above(known, found.score + tolerance) &&
            gain <= known.impurity * (1 + 1e-6)) {
            found.gain = gain;
            found.score = gain * scale_;
            best = &category;
        }
    }
    return best;
}

template Tree grow_single_target<CountingSearch>(const Dataset&, const Targets&, const NodeRows&,
                                                 const GrowOptions&, StopSignal&);

}  // namespace ramify
