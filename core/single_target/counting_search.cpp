#include "single_target/counting_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/simd.hpp"

namespace ramify {

namespace {

constexpr double relative_tolerance = 1e-9;

/// P^2 / W of both sides: a gain plus what it is measured from.
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

CountingSearch::CountingSearch(const Dataset& dataset, const std::vector<char>& positive,
                               const SplitRules& rules, double label_weight)
    : dataset_(dataset),
      codes_(dataset.codes->of(dataset)),
      positive_(positive),
      rules_(rules),
      scale_(label_weight * rules.score_factor),
      least_rows_(rules.min_samples_leaf * (1 - relative_tolerance)),
      least_weight_(rules.min_weight * (1 - relative_tolerance)),
      counts_(codes_.most_values),
      parts_(codes_.most_values),
      weights_(codes_.most_values) {}

CountedTest CountingSearch::find(const CountedNode& node, std::vector<std::uint32_t>& features) {
    best_ = {};
    node_ = node.sums;
    tolerance_ =
        relative_tolerance * node_.positive * (1 - node_.positive / node_.weight) * scale_;
    // The rarer kind of row is counted: differences of small numbers lose fewer digits.
    turned_ = 2 * node_.positive > node_.weight;
    if (turned_) node_.positive = node_.weight - node_.positive;
    if (!node.table.empty()) {
        counts_.turn(turned_);
        std::erase_if(features, [&](std::uint32_t feature) {
            const CountCell* cells = node.table.data() + codes_.first_cell[feature];
            return !search_feature(feature, counts_.read(cells, codes_.n_values[feature]));
        });
    } else if (node.whole) {
        search(node, features, counts_, count_steps_);
    } else if (std::ranges::equal(node.rows.weight, node.rows.part)) {
        search(node, features, parts_, part_steps_);
    } else {
        search(node, features, weights_, weight_steps_);
    }
    return std::move(best_);
}

template <typename Cell>
void CountingSearch::make_steps(const NodeRows& rows, bool turned,
                                std::vector<Cell>& steps) const {
    steps.resize(rows.size());
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const bool positive = (positive_[rows.row[e]] != 0) != turned;
        steps[e] = Cell::of(rows.weight[e], rows.part[e], positive);
    }
}

SumTable CountingSearch::make_table(const NodeRows& rows,
                                    const std::vector<std::uint32_t>& features) {
    make_steps(rows, false, count_steps_);
    SumTable table(codes_.n_cells);
    for (const auto feature : features) {
        counts_.add(codes_.column(feature), codes_.n_values[feature], rows.row, count_steps_,
                    table.data() + codes_.first_cell[feature]);
    }
    return table;
}

template <typename Cell>
void CountingSearch::search(const CountedNode& node, std::vector<std::uint32_t>& features,
                            Tally<Cell>& tally, std::vector<Cell>& steps) {
    // Exact sums are turned when they are read, so that a table serves either way.
    make_steps(node.rows, turned_ && !Cell::is_exact, steps);
    tally.turn(turned_);
    std::erase_if(features, [&](std::uint32_t feature) {
        return !search_feature(
            feature,
            tally.count(codes_.column(feature), codes_.n_values[feature], node.rows.row, steps));
    });
}

/// Replaces the best test by the feature's if that is better; false if the feature is constant.
bool CountingSearch::search_feature(std::uint32_t feature, const Profile& profile) {
    feature_ = feature;
    const Known known = known_of(node_ - profile.unknown);
    return dataset_.features[feature].kind == FeatureKind::nominal
               ? choose_categories(known, profile)
               : scan_values(known, profile);
}

CountingSearch::Known CountingSearch::known_of(const Sums& sums) const {
    Known known{sums};
    if (sums.weight <= 0) return known;
    known.part = sums.positive * sums.positive / sums.weight;
    known.impurity = std::max(0.0, sums.positive - known.part);
    const auto& critical = rules_.f_critical;
    if (critical.empty()) return known;
    // The F-test compares df * gain / (SS - gain) with a critical value; see Splitter.
    const double freedom = std::floor(sums.weight - 2 + 0.5);
    known.gain_floor = std::numeric_limits<double>::infinity();
    if (freedom > 0 && known.impurity > 0) {
        const auto place = std::min(critical.size() - 1, static_cast<std::size_t>(freedom));
        known.gain_floor = critical[place] * known.impurity / (freedom + critical[place]);
    }
    return known;
}

bool CountingSearch::large_enough(const Known& known, const Sums& left) const {
    const double rest = known.sums.weight - left.weight;
    return left.rows >= least_rows_ && known.sums.rows - left.rows >= least_rows_ &&
           left.weight >= least_weight_ && rest >= least_weight_ && left.weight > 0 && rest > 0;
}

double CountingSearch::bar(const Known& known, double score) const {
    const double floor = std::max(tolerance_ / scale_, known.gain_floor);
    return std::max(floor, (score + tolerance_) / scale_);
}

bool CountingSearch::scan_values(const Known& known, const Profile& profile) {
    // The first and the last value after which both sides are large enough.
    const double* rows = profile.rows.empty() ? profile.weight.data() : profile.rows.data();
    std::size_t first = 0;
    std::size_t last = profile.size;
    while (first < last && rows[first] <= 0) ++first;
    const std::size_t occurring = first;
    while (last > first && rows[last - 1] >= rows[profile.size - 1]) --last;
    if (first == last) return false;
    while (first < last && rows[first] < least_rows_) ++first;
    while (last > first && known.sums.rows - rows[last - 1] < least_rows_) --last;
    const double needed = known.part + bar(known, best_.score);
    if (any_exceeds(profile.weight.data() + first, profile.positive.data() + first, last - first,
                    known.sums.weight, known.sums.positive, needed)) {
        try_values(known, profile, std::max(first, occurring), last);
    }
    return true;
}

void CountingSearch::try_values(const Known& known, const Profile& profile, std::size_t first,
                                std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
        const double w = profile.weight[k];
        const double p = profile.positive[k];
        if (!large_enough(known, profile.sums(k))) continue;
        const double gain =
            parted(p, w, known.sums.positive - p, known.sums.weight - w) - known.part;
        // A value that does not occur repeats the test before it, and is no better.
        if (!(gain > bar(known, best_.score)) || gain > known.impurity * (1 + 1e-6)) continue;
        // Beside huge weights tiny ones do not show in the sums: the last value ends the search.
        std::size_t next = k + 1;
        while (next + 1 < profile.size && profile.weight[next] <= w) ++next;
        best_ = {static_cast<std::int32_t>(feature_),
                 gain * scale_,
                 gain,
                 w,
                 known.sums.weight,
                 profile.code(k),
                 profile.code(next),
                 {}};
    }
}

// ---- nominal -------------------------------------------------------------------------------

void CountingSearch::list_categories(const Profile& profile) {
    categories_.clear();
    Sums before;
    for (std::size_t k = 0; k < profile.size; ++k) {
        const Sums up_to = profile.sums(k);
        if (up_to.rows > before.rows) categories_.push_back({profile.code(k), up_to - before});
        before = up_to;
    }
}

/// Greedy forward selection: add the category that helps most while any helps.
bool CountingSearch::choose_categories(const Known& known, const Profile& profile) {
    list_categories(profile);
    if (categories_.size() < 2) return false;
    const auto n_declared = static_cast<std::size_t>(dataset_.features[feature_].n_categories);
    const bool single = n_declared == 2 || rules_.nominal == NominalTests::single;
    Sums left;
    double score = rejected;
    double gain = 0;
    for (std::size_t round = 0; round < (single ? 1 : n_declared - 1); ++round) {
        const double reached = score;
        add_category(known, left, score, gain);
        if (score == reached) break;
    }
    if (score > best_.score + tolerance_) {
        best_ = {static_cast<std::int32_t>(feature_),
                 score,
                 gain,
                 left.weight,
                 known.sums.weight,
                 0,
                 0,
                 {}};
        for (const auto& category : categories_) {
            if (category.chosen) best_.categories.push_back(category.code);
        }
    }
    return true;
}

/// Adds the category that raises the score most to the first branch, if any does.
void CountingSearch::add_category(const Known& known, Sums& left, double& score, double& gain) {
    // Two declared categories make one test, "is it the first?".
    const bool pair = dataset_.features[feature_].n_categories == 2;
    Category* pick = nullptr;
    for (std::size_t k = 0; k < (pair ? 1 : categories_.size()); ++k) {
        Category& category = categories_[k];
        const Sums with = left + category.sums;
        if (category.chosen || !large_enough(known, with)) continue;
        const Sums rest = known.sums - with;
        const double found =
            parted(with.positive, with.weight, rest.positive, rest.weight) - known.part;
        if (found > bar(known, score) && found <= known.impurity * (1 + 1e-6)) {
            gain = found;
            score = gain * scale_;
            pick = &category;
        }
    }
    if (pick == nullptr) return;
    pick->chosen = true;
    left = left + pick->sums;
}

}  // namespace ramify
