// The best test of one node for one label, found by adding up rows by value.
#pragma once

#include <cstdint>
#include <vector>

#include "data/codes.hpp"
#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/splitter.hpp"
#include "single_target/tally.hpp"

namespace ramify {

/// The best test of a node so far.
struct CountedTest {
    std::int32_t feature = -1;
    double score = rejected;
    double gain = 0;  // of a label of weight 1
    double left = 0;  // weight of the first branch
    double known = 0;
    std::uint32_t upper = 0;  // numeric: the last rank of the first branch, the first of the other
    std::uint32_t lower = 0;
    std::vector<std::uint32_t> categories;  // nominal: those of the first branch

    double share() const { return left / known; }
};

/// Sums by value of all features of a node of whole rows: a child's are its parent's without its
/// sibling's, so that only the smaller of two branches is ever counted. Empty: not known.
using SumTable = std::vector<CountCell>;

/// A node as the search sees it.
struct CountedNode {
    const NodeRows& rows;
    Sums sums;
    bool whole;  // every row is there once, with weight 1
    const SumTable& table;
};

/// Searches nodes of one tree, one after the other.
class CountingSearch {
  public:
    /// `positive` tells for every row of the data set whether it has the label.
    CountingSearch(const Dataset& dataset, const std::vector<char>& positive,
                   const SplitRules& rules, double label_weight);

    /// The best test of a node. Features that are constant there leave the list: they are
    /// constant in all that grows below.
    CountedTest find(const CountedNode& node, std::vector<std::uint32_t>& features);

    /// Whether a table costs less than it saves in a node of so many rows.
    bool table_pays(std::size_t n_rows) const {
        return n_rows * codes_.n_values.size() >= 2 * codes_.n_cells;
    }
    /// The table of whole rows, for some features.
    SumTable make_table(const NodeRows& rows, const std::vector<std::uint32_t>& features);

  private:
    /// The known rows of one feature in one node, and what a test of them must reach.
    struct Known {
        Sums sums;
        double part = 0;        // P^2 / W: what gain is measured from
        double impurity = 0;    // P (1 - P / W)
        double gain_floor = 0;  // what the F-test asks for
    };
    struct Category {
        std::uint32_t code;
        Sums sums;
        bool chosen = false;
    };

    template <typename Cell>
    void make_steps(const NodeRows& rows, bool turned, std::vector<Cell>& steps) const;
    template <typename Cell>
    void search(const CountedNode& node, std::vector<std::uint32_t>& features, Tally<Cell>& tally,
                std::vector<Cell>& steps);
    bool search_feature(std::uint32_t feature, const Profile& profile);
    bool scan_values(const Known& known, const Profile& profile);
    void try_values(const Known& known, const Profile& profile, std::size_t first,
                    std::size_t last);
    bool choose_categories(const Known& known, const Profile& profile);
    void list_categories(const Profile& profile);
    void add_category(const Known& known, Sums& left, double& score, double& gain);
    Known known_of(const Sums& sums) const;
    bool large_enough(const Known& known, const Sums& left) const;
    /// The gain above which a test beats one of this score.
    double bar(const Known& known, double score) const;

    const Dataset& dataset_;
    const CodeColumns& codes_;
    const std::vector<char>& positive_;
    const SplitRules& rules_;
    double scale_;  // from a gain to a score
    double least_rows_;
    double least_weight_;
    Sums node_;             // sums of the node
    bool turned_ = false;   // rows without the label are counted as positive
    double tolerance_ = 0;  // of the node's scores
    std::uint32_t feature_ = 0;
    CountedTest best_;
    std::vector<Category> categories_;
    Tally<CountCell> counts_;
    Tally<PartCell> parts_;
    Tally<WeightCell> weights_;
    std::vector<CountCell> count_steps_;
    std::vector<PartCell> part_steps_;
    std::vector<WeightCell> weight_steps_;
};

}  // namespace ramify
