// BR-DT: extends a leaf that predicts one label to the labels related to it, by the rules of trees
// that predict each label from the others.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ramify {

/// The training rows and the rules of all labels' trees. The rules of label c are those from
/// rule_indptr[c] on, and their premises are literals "the label has this value".
struct LabelRules {
    std::size_t n_rows = 0;
    std::vector<double> weight;             // per row
    std::vector<std::uint8_t> has;          // per label and row
    std::vector<std::int32_t> rule_of_row;  // per label and row: the rule whose premise holds
    std::vector<double> accuracy;           // per label: of its tree
    std::vector<std::int64_t> rule_indptr;  // per label + 1
    std::vector<std::int32_t>
        preferred;  // per label, its rules: the first of equally good ones wins
    std::vector<std::uint8_t> conclusion;      // per rule
    std::vector<std::int64_t> premise_indptr;  // per rule + 1
    std::vector<std::int32_t> premise_label;
    std::vector<std::uint8_t> premise_value;
    bool next_tree = true;  // labels that no rule reaches: see LeafExtension::extend()

    std::size_t n_labels() const { return accuracy.size(); }
    std::size_t n_rules() const { return conclusion.size(); }
};

/// A leaf of the tree of one label.
struct LabelledLeaf {
    std::span<const std::int64_t> rows;  // training rows with a weight above 0
    std::size_t label;
    std::uint8_t value;
};

/// Extends one leaf after the other.
class LeafExtension {
  public:
    explicit LeafExtension(LabelRules rules);
    const LabelRules& rules() const { return rules_; }
    /// Writes the value of every label of the component, in its order. If labels remain that no
    /// rule of the labels given so far reaches, the most accurate of their trees is used next
    /// (rules.next_tree), or they get the more frequent value in the leaf.
    void extend(const LabelledLeaf& leaf, std::span<const std::int32_t> component,
                std::uint8_t* values);

  private:
    static constexpr std::uint8_t not_given = 2;
    static constexpr std::int32_t no_rule = -1;

    void give(std::size_t label, std::uint8_t value);
    void set(std::size_t label, std::uint8_t value);
    void give_premise(std::int32_t rule);
    bool give_by_next_tree(std::span<const std::int32_t> component);
    std::int32_t best_rule(std::size_t source);
    void count_rules(std::size_t source);
    std::uint8_t majority(std::span<const std::int64_t> rows, std::size_t label) const;

    LabelRules rules_;
    std::vector<std::uint8_t> common_;  // per label: the more frequent value over all rows
    std::vector<std::uint8_t> given_;   // per label
    std::size_t n_given_ = 0;
    std::vector<std::int64_t> right_;                      // rows that agree with all given values
    std::vector<std::pair<double, std::size_t>> sources_;  // heap: accuracy and label of those
                                                           // whose rules have not been used
    std::vector<double> count_;                            // per rule: weight of the correct rows
};

}  // namespace ramify
