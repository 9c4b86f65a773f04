#include "brdt/leaf_extension.hpp"

#include <algorithm>
#include <numeric>

namespace ramify {

namespace {

/// Shares that differ by less are equal (docs/decisions/0003-ties.md).
constexpr double tie_tolerance = 1e-9;

using Source = std::pair<double, std::size_t>;

/// Whether b's turn comes before a's: the most accurate tree first, then the first label.
bool comes_later(const Source& a, const Source& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
}

}  // namespace

LeafExtension::LeafExtension(LabelRules rules)
    : rules_(std::move(rules)), count_(rules_.n_rules(), 0.0) {
    std::vector<std::int64_t> all(rules_.n_rows);
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t label = 0; label < rules_.n_labels(); ++label) {
        common_.push_back(majority(all, label));
    }
}

void LeafExtension::extend(const LabelledLeaf& leaf, std::span<const std::int32_t> component,
                           std::uint8_t* values) {
    given_.assign(rules_.n_labels(), not_given);
    n_given_ = 0;
    right_.assign(leaf.rows.begin(), leaf.rows.end());
    sources_.clear();
    give(leaf.label, leaf.value);
    while (n_given_ < component.size()) {
        if (sources_.empty()) {
            if (!rules_.next_tree || !give_by_next_tree(component)) break;
            continue;
        }
        std::ranges::pop_heap(sources_, comes_later);
        const std::size_t source = sources_.back().second;
        sources_.pop_back();
        const std::int32_t rule = best_rule(source);
        if (rule != no_rule) give_premise(rule);
    }
    for (std::size_t i = 0; i < component.size(); ++i) {
        const auto label = static_cast<std::size_t>(component[i]);
        values[i] = given_[label] == not_given ? majority(leaf.rows, label) : given_[label];
    }
}

/// Sets the value of a label whose rules are used next.
void LeafExtension::give(std::size_t label, std::uint8_t value) {
    set(label, value);
    sources_.emplace_back(rules_.accuracy[label], label);
    std::ranges::push_heap(sources_, comes_later);
}

void LeafExtension::set(std::size_t label, std::uint8_t value) {
    given_[label] = value;
    ++n_given_;
    const std::uint8_t* has = rules_.has.data() + label * rules_.n_rows;
    std::erase_if(right_, [&](std::int64_t row) { return has[row] != value; });
}

void LeafExtension::give_premise(std::int32_t rule) {
    const auto end = static_cast<std::size_t>(rules_.premise_indptr[rule + 1]);
    for (auto k = static_cast<std::size_t>(rules_.premise_indptr[rule]); k < end; ++k) {
        const auto label = static_cast<std::size_t>(rules_.premise_label[k]);
        if (given_[label] == not_given) give(label, rules_.premise_value[k]);
    }
}

/// Of the labels that have no value yet, takes the one with the most accurate tree and gives what
/// the best of its rules says, conclusion and premise. Returns false if no label has rules.
bool LeafExtension::give_by_next_tree(std::span<const std::int32_t> component) {
    std::size_t source = rules_.n_labels();
    for (const auto number : component) {
        const auto label = static_cast<std::size_t>(number);
        if (given_[label] != not_given) continue;
        if (rules_.rule_indptr[label] == rules_.rule_indptr[label + 1]) continue;
        const bool first = source == rules_.n_labels();
        if (first || rules_.accuracy[label] > rules_.accuracy[source]) source = label;
    }
    if (source == rules_.n_labels()) return false;
    const std::int32_t rule = best_rule(source);
    set(source, rules_.conclusion[rule]);
    give_premise(rule);
    return true;
}

/// The rule for the value of a label, or for either value if it has none yet, that is most precise
/// in the leaf. n(B) is the same for all rules, so that the one with the largest weight of correct
/// rows has the best Laplace precision.
std::int32_t LeafExtension::best_rule(std::size_t source) {
    const auto begin = static_cast<std::size_t>(rules_.rule_indptr[source]);
    const auto end = static_cast<std::size_t>(rules_.rule_indptr[source + 1]);
    count_rules(source);
    std::int32_t best = no_rule;
    for (std::size_t k = begin; k < end; ++k) {
        const std::int32_t rule = rules_.preferred[k];
        if (given_[source] != not_given && rules_.conclusion[rule] != given_[source]) continue;
        if (best == no_rule || count_[rule] > count_[best]) best = rule;
        if (right_.empty()) break;
    }
    return best;
}

void LeafExtension::count_rules(std::size_t source) {
    if (right_.empty()) return;  // nothing is compared then
    std::fill(count_.begin() + rules_.rule_indptr[source],
              count_.begin() + rules_.rule_indptr[source + 1], 0.0);
    const std::int32_t* rule_of_row = rules_.rule_of_row.data() + source * rules_.n_rows;
    const std::uint8_t* has = rules_.has.data() + source * rules_.n_rows;
    for (const auto row : right_) {
        const std::int32_t rule = rule_of_row[row];
        if (rule >= 0 && rules_.conclusion[rule] == has[row]) count_[rule] += rules_.weight[row];
    }
}

/// The more frequent value of a label in a leaf, or over all rows if the leaf is empty; 0 if both
/// values are equally frequent, as in J48.
std::uint8_t LeafExtension::majority(std::span<const std::int64_t> rows, std::size_t label) const {
    const std::uint8_t* has = rules_.has.data() + label * rules_.n_rows;
    double total = 0;
    double positive = 0;
    for (const auto row : rows) {
        total += rules_.weight[row];
        positive += has[row] ? rules_.weight[row] : 0.0;
    }
    if (total <= 0) return label < common_.size() ? common_[label] : 0;
    return positive / total > 0.5 + tie_tolerance ? 1 : 0;
}

}  // namespace ramify
