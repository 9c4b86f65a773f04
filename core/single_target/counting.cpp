#include "single_target/counting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/simd.hpp"
#include "common/tolerance.hpp"
#include "growing/scoring.hpp"

namespace ramify {

static_assert(FeatureSearch<CountingSearch>);

namespace {

/// The sum of P^2 / W over both sides: a gain plus what it is measured from.
double parted(double positive, double weight, double other_positive, double other_weight) {
    return positive * positive / weight + other_positive * other_positive / other_weight;
}

/// Whether p^2 / w + (P - p)^2 / (W - w) > needed for any of the sums w and p, to which the same
/// weight is added before.
RAMIFY_ANY_WIDTH
bool any_exceeds(const double* weight, const double* positive, std::size_t n, double W, double P,
                 double needed, double weight_before, double positive_before) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double w = weight[k] + weight_before;
        const double p = positive[k] + positive_before;
        const double rest = W - w;
        const double other = P - p;
        const double parts = p * p * rest + other * other * w;
        found |= static_cast<std::uint64_t>(parts > needed * (w * rest));
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
    for (Node& branch : branches) {
        branch.divided = node.divided;
        if (test.missing < 0) branch.divided.push_back(static_cast<std::uint32_t>(f));
    }
    const auto hand = [&](Node& branch, std::size_t e, double share) {
        const auto row = node.rows.row[e];
        branch.add(row, node.rows.weight[e] * share, node.rows.part[e] * share,
                   shared_.positive[row] != 0);
    };
    for (std::size_t e = 0; e < node.rows.size(); ++e) {
        const std::uint32_t code = column[node.rows.row[e]];
        if (code == missing && test.missing >= 0) {
            hand(branches[static_cast<std::size_t>(test.missing)], e, 1.0);
        } else if (code == missing) {
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
    split.missing_branch = test.missing;
    if (feature.kind == FeatureKind::nominal) {
        // Declared categories that do not occur in the node go to the second branch.
        split.category_branch.assign(static_cast<std::size_t>(feature.n_categories), 1);
        for (const auto code : test.categories) split.category_branch[code] = 0;
    } else if (test.lower == feature.values.size()) {
        split.threshold = -std::numeric_limits<double>::infinity();
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
    const bool learns = learns_from(view, feature, sums.missing);
    const Known known = known_rows(view, learns ? view.sums : view.sums - sums.missing);
    found.feature = static_cast<std::int32_t>(feature);
    found.score = 0;
    found.whole = known.sums.weight;
    found.missing = -1;
    found.categories.clear();
    const bool nominal = shared_.dataset.features[feature].kind == FeatureKind::nominal;
    const Found result = nominal  ? choose_categories(known, sums, view.tolerance, learns, found)
                         : learns ? scan_both(known, sums, beat, view.tolerance, found)
                                  : scan_values(known, sums, beat, view.tolerance, found);
    // Below, there may be evidence for a test whether the value is missing.
    const bool may_learn = shared_.rules.missing != Missing::divide && sums.missing.rows > 0;
    return result == Found::constant && may_learn ? Found::nothing : result;
}

/// See ScanSplitter::learns_from().
bool CountingSearch::learns_from(const View& view, std::uint32_t feature,
                                 const Sums& missing) const {
    const Missing rule = shared_.rules.missing;
    if (rule == Missing::divide || missing.rows <= 0) return false;
    if (rule == Missing::branch) return true;
    const auto& divided = view.node.divided;
    if (std::ranges::find(divided, feature) != divided.end()) return false;
    const Sums& all = view.sums;
    const Sums known = all - missing;
    if (known.weight <= 0) return false;
    const double part = all.positive * all.positive / all.weight;
    const double gain =
        parted(missing.positive, missing.weight, known.positive, known.weight) - part;
    return is_evidence(gain, all.positive - part, all.rows);
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
                     known.sums.weight, known.sums.positive, known.part + gain_above(known, beat),
                     0, 0)) {
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

/// Whether a test with this first branch is better than the one found; if so, takes its gain.
bool CountingSearch::improves(const Known& known, const Sums& left, double tolerance,
                              Test& found) const {
    if (!large_enough(known, left)) return false;
    const Sums rest = known.sums - left;
    const double gain =
        parted(left.positive, left.weight, rest.positive, rest.weight) - known.part;
    if (!(gain > gain_above(known, found.score + tolerance)) ||
        gain > known.impurity * (1 + 1e-6)) {
        return false;
    }
    found.score = gain * scale_;
    found.gain = gain;
    return true;
}

/// As scan_values(), with the missing values on either side, and last, whether the value is
/// missing; see ScanSplitter::learn_numeric().
Found CountingSearch::scan_both(const Known& known, const Profile& profile, double beat,
                                double tolerance, Test& found) const {
    const double* rows = profile.rows.empty() ? profile.weight.data() : profile.rows.data();
    const Sums& missing = profile.missing;
    std::size_t first = 0;
    std::size_t end = profile.size;
    while (first < end && rows[first] <= 0) ++first;
    if (first == end) return Found::constant;
    while (end - first > 1 && rows[end - 2] >= rows[profile.size - 1]) --end;
    const auto exceeds = [&](const Sums& before) {
        return any_exceeds(profile.weight.data() + first, profile.positive.data() + first,
                           end - first, known.sums.weight, known.sums.positive,
                           known.part + gain_above(known, beat), before.weight, before.positive);
    };
    if (!exceeds({}) && !exceeds(missing)) return Found::nothing;
    const Sums all = profile.sums(end - 1);
    for (std::size_t k = first; k + 1 < end; ++k) {
        const Sums left = profile.sums(k);
        const std::int32_t larger = reaches(2 * left.weight, all.weight) ? 0 : 1;
        for (const std::int32_t branch : {larger, 1 - larger}) {
            const Sums with = branch == 0 ? left + missing : left;
            if (!improves(known, with, tolerance, found)) continue;
            std::size_t next = k + 1;
            while (next + 1 < end && profile.weight[next] <= left.weight) ++next;
            found.upper = profile.code(k);
            found.lower = profile.code(next);
            found.place(branch, with.weight);
        }
    }
    if (improves(known, all, tolerance, found)) {
        const auto f = static_cast<std::size_t>(found.feature);
        found.lower = shared_.codes.n_values[f];
        found.upper = found.lower - 1;
        found.place(1, all.weight);
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
                                        double tolerance, bool learns, Test& found) {
    list_categories(profile);
    if (learns) categories_.push_back({0, profile.missing, false, true});
    if (categories_.size() < 2) return Found::constant;
    const auto& feature = shared_.dataset.features[static_cast<std::size_t>(found.feature)];
    // Two declared categories make one test, "is it the first?".
    const bool pair = feature.n_categories == 2 && !learns;
    const bool single = pair || shared_.rules.nominal_tests == NominalTests::single;
    const std::int32_t n_rounds = (single ? 1 : feature.n_categories - 1) + learns;
    Sums left;
    for (std::int32_t round = 0; round < n_rounds; ++round) {
        Category* pick = best_category(known, left, tolerance, pair, found);
        if (pick == nullptr) break;
        pick->chosen = true;
        left = left + pick->sums;
    }
    found.left = left.weight;
    if (learns) found.missing = categories_.back().chosen ? 0 : 1;
    for (const auto& category : categories_) {
        if (category.chosen && !category.missing) found.categories.push_back(category.code);
    }
    return found.score > 0 ? Found::test : Found::nothing;
}

/// The category that raises the score most when it joins the first branch; null if none does.
CountingSearch::Category* CountingSearch::best_category(const Known& known, const Sums& left,
                                                        double tolerance, bool pair, Test& found) {
    Category* best = nullptr;
    for (std::size_t k = 0; k < (pair ? 1 : categories_.size()); ++k) {
        Category& category = categories_[k];
        if (category.chosen || !may_join(category)) continue;
        if (improves(known, left + category.sums, tolerance, found)) best = &category;
    }
    return best;
}

/// Of single categories, one may be chosen, and missing values or not.
bool CountingSearch::may_join(const Category& category) const {
    if (shared_.rules.nominal_tests != NominalTests::single) return true;
    return std::ranges::none_of(categories_, [&](const Category& other) {
        return other.chosen && other.missing == category.missing;
    });
}

template Tree grow_single_target<CountingSearch>(const Dataset&, const Targets&, const NodeRows&,
                                                 const GrowOptions&, StopSignal&);

}  // namespace ramify
