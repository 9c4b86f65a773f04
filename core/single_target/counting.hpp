// Tests for one label, found by adding up rows by value.
//
// With one label the rows of a node that share a value of a feature reduce to two numbers: their
// weight, and the weight of those that have the label. A test is found by adding up the rows by
// value and looking at each value once. No row is ever sorted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "data/codes.hpp"
#include "data/dataset.hpp"
#include "data/label_sums.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "growing/split.hpp"
#include "single_target/search.hpp"
#include "single_target/tally.hpp"

namespace ramify {

/// Implements FeatureSearch.
class CountingSearch {
  public:
    struct Shared {
        Shared(const Dataset& data, const Targets& targets, const SplitRules& split_rules);

        const Dataset& dataset;
        const CodeColumns& codes;
        const SplitRules& rules;
        double label_weight;
        std::vector<char> positive;  // per row of the data set: whether it has the label
    };

    /// Counts by value of all features of a node of whole rows.
    using Summary = std::vector<CountCell>;

    struct Node {
        NodeRows rows;
        Sums sums;
        bool whole = true;                   // every row has weight 1 and is not divided
        std::vector<std::uint32_t> divided;  // see Pending
        Summary summary;

        void add(std::uint32_t row, double weight, double part, bool positive);
        std::size_t size() const { return rows.size(); }
        double n_rows() const { return sums.rows; }
        double weight() const { return sums.weight; }
        bool is_exact() const { return whole; }
    };

    struct Test {
        std::int32_t feature = -1;
        double score = 0;
        double gain = 0;                        // of a label of weight 1
        double left = 0;                        // weight of the first branch
        double whole = 0;                       // weight of the rows that are not divided
        std::int32_t missing = -1;              // the branch of missing values; -1: divided
        std::uint32_t upper = 0;                // numeric: the last rank of the first branch,
        std::uint32_t lower = 0;                // and the first of the second or, if the second
                                                // has missing values only, the number of ranks
        std::vector<std::uint32_t> categories;  // nominal: those of the first branch

        double share() const { return left / whole; }
        /// Sends the missing values to a branch.
        void place(std::int32_t branch, double left_weight) {
            missing = branch;
            left = left_weight;
        }
    };

    /// A node prepared for the search.
    struct View {
        const Node& node;
        Sums sums;         // of the node
        bool turned;       // rows without the label are counted as positive
        double tolerance;  // of scores
        // What each entry adds to its cell; only those of the kind in use are filled.
        std::tuple<std::span<const CountCell>, std::span<const PartCell>,
                   std::span<const WeightCell>>
            steps;
    };

    struct ListedRows {
        std::span<const std::uint32_t> rows;
        std::span<const CountCell> steps;
    };

    explicit CountingSearch(const Shared& shared);

    Node make_root(const NodeRows& rows) const;
    bool is_impure(const Node& node) const;
    double impurity(const Node& node) const;
    void list_values(const Node& node, std::vector<LabelSum>& values) const;

    View begin(const Node& node);
    Found search(const View& view, std::uint32_t feature, double beat, Test& found);

    Split as_split(const Node& node, const Test& test) const;
    void divide(const Node& node, const Test& test, std::span<Node, 2> branches) const;

    /// Whether a summary costs less than it saves.
    bool summary_pays(const Node& node) const;
    Summary new_summary() const { return Summary(shared_.codes.n_cells); }
    Summary new_part() const { return new_summary(); }
    ListedRows list_rows(const Node& node);
    void add_rows(std::uint32_t feature, const ListedRows& listed, Summary& summary);
    void take_out(std::uint32_t feature, const ListedRows& listed, Summary& from, Summary& part);

  private:
    /// The rows of a node that have a value of the feature, and the gain that a test must exceed.
    struct Known {
        Sums sums;
        double part = 0;      // P^2 / W: gains are differences from this
        double impurity = 0;  // P (1 - P / W)
        double min_gain = 0;  // required by the tolerance and the F-test
    };
    struct Category {
        std::uint32_t code;
        Sums sums;
        bool chosen = false;
        bool missing = false;  // stands for missing values
    };

    template <typename Cell>
    Tally<Cell>& tally();
    template <typename Cell>
    std::span<const Cell> list_steps(const NodeRows& rows, bool turned);
    template <typename Cell>
    const Profile& count(const View& view, std::uint32_t feature);
    const Profile& profile(const View& view, std::uint32_t feature);
    bool learns_from(const View& view, std::uint32_t feature, const Sums& missing) const;
    Known known_rows(const View& view, const Sums& sums) const;
    bool large_enough(const Known& known, const Sums& left) const;
    /// The gain above which a test exceeds this score.
    double gain_above(const Known& known, double score) const {
        return std::max(known.min_gain, score / scale_);
    }
    Found scan_values(const Known& known, const Profile& profile, double beat, double tolerance,
                      Test& found) const;
    Found scan_both(const Known& known, const Profile& profile, double beat, double tolerance,
                    Test& found) const;
    bool improves(const Known& known, const Sums& left, double tolerance, Test& found) const;
    Found choose_categories(const Known& known, const Profile& profile, double tolerance,
                            bool learns, Test& found);
    void list_categories(const Profile& profile);
    Category* best_category(const Known& known, const Sums& left, double tolerance, bool pair,
                            Test& found);
    bool may_join(const Category& category) const;

    const Shared& shared_;
    double scale_;  // from a gain to a score
    double min_rows_;
    double min_weight_;
    std::vector<Category> categories_;
    std::tuple<std::optional<Tally<CountCell>>, std::optional<Tally<PartCell>>,
               std::optional<Tally<WeightCell>>>
        tallies_;  // each is made when it is first used
    std::tuple<std::vector<CountCell>, std::vector<PartCell>, std::vector<WeightCell>> steps_;
};

extern template Tree grow_single_target<CountingSearch>(const Dataset&, const Targets&,
                                                        const NodeRows&, const GrowOptions&,
                                                        StopSignal&);

}  // namespace ramify
