// Tests for one class per row where most rows have the same class: one rare label, or a few rare
// classes.
//
// Among rows of the most frequent class the gain is a convex function of their number, so that it
// is largest next to a row of another, rare class. A test is therefore found from the rare rows
// alone, given the number of rows of the node before each of them in the order of the feature.
// The rows of a node are stored as bits in the order of each feature and counted 64 at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/codes.hpp"
#include "data/dataset.hpp"
#include "data/label_sums.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "growing/split.hpp"
#include "single_target/search.hpp"

namespace ramify {

/// Implements FeatureSearch, for whole rows of weight 1 and numeric features without missing
/// values.
class RareClassSearch {
  public:
    /// With more rows, most bits of a node are those of rows in other nodes.
    static constexpr std::size_t max_rows = 16384;
    static constexpr std::size_t max_classes = 256;

    struct Shared {
        Shared(const Dataset& data, const Targets& targets, const SplitRules& split_rules);

        const Dataset& dataset;
        const CodeColumns& codes;
        const PositionColumns& positions;
        const SplitRules& rules;
        bool one_label;  // class 1: the row has the label; class 0: it has not
        double label_weight;
        std::vector<std::uint16_t> class_of;  // per row of the data set
        std::size_t n_classes;
        std::size_t n_words;  // of bits, per feature

        /// From the gain in sum_c p_c (1 - p_c) over classes to that over labels: one label
        /// counts for half of its two classes.
        double scale() const { return one_label ? label_weight / 2 : label_weight; }
    };

    /// Per feature and position in its order a bit: whether that row is in the node.
    using Summary = std::vector<std::uint64_t>;

    struct Node {
        std::vector<std::uint32_t> rows;
        std::vector<std::uint32_t> total;  // per class: rows
        Summary summary;

        std::size_t size() const { return rows.size(); }
        double n_rows() const { return static_cast<double>(rows.size()); }
        double weight() const { return n_rows(); }
        bool is_exact() const { return true; }
        /// Sum over classes of the square of their rows.
        double square() const;
    };

    /// The first branch has the codes below `bound`.
    struct Test {
        std::int32_t feature = -1;
        double score = 0;  // the gain in sum_c p_c (1 - p_c), times rows
        double left = 0;
        std::uint32_t bound = 0;
    };

    /// A node prepared for the search.
    struct View {
        const Node& node;
        std::span<const std::uint32_t> rare_rows;  // those not of the most frequent class
        double weight;                             // W: rows
        double square;     // Q: sum over classes of the square of their rows
        double major;      // rows of the most frequent class
        double tolerance;  // of scores
    };

    /// A node in the order of one feature.
    struct Column {
        const std::uint64_t* members;
        const std::uint16_t* row;    // per position
        const std::uint16_t* code;   // per row
        const std::uint16_t* start;  // per code: its first position
        bool all_differ;             // codes are positions
    };

    using ListedRows = std::span<const std::uint32_t>;

    explicit RareClassSearch(const Shared& shared);

    Node make_root(const NodeRows& rows) const;
    bool is_impure(const Node& node) const;
    double impurity(const Node& node) const;
    void list_values(const Node& node, std::vector<LabelSum>& values) const;

    View begin(const Node& node);
    Found search(const View& view, std::uint32_t feature, double beat, Test& found);

    Split as_split(const Node& node, const Test& test) const;
    void divide(const Node& node, const Test& test, std::span<Node, 2> branches) const;

    bool summary_pays(const Node&) const { return true; }
    Summary new_summary() const {
        return Summary(shared_.dataset.features.size() * shared_.n_words);
    }
    /// The bits of a branch are not needed to take them out of its parent's.
    Summary new_part() const { return {}; }
    ListedRows list_rows(const Node& node) const { return node.rows; }
    void add_rows(std::uint32_t feature, const ListedRows& rows, Summary& summary) const {
        flip_rows(feature, rows, summary);
    }
    void take_out(std::uint32_t feature, const ListedRows& rows, Summary& from, Summary&) const {
        flip_rows(feature, rows, from);
    }

  private:
    /// The codes of rare rows in increasing order, with sums over the rare rows before each of
    /// them and, in one more cell, over all.
    struct RareCodes {
        std::vector<std::uint32_t> code;
        std::vector<double> n;
        std::vector<double> square;  // sum over classes of the square of their rows
        std::vector<double> cross;   // sum over rows of all rows of their class
        std::vector<double> above;   // rows of the node with smaller codes
        std::vector<double> to;      // the same, and those with this code

        void make_room(std::size_t n_codes);
    };

    Column column(const View& view, std::uint32_t feature) const;
    void flip_rows(std::uint32_t feature, ListedRows rows, Summary& summary) const;
    std::size_t list_codes(const View& view, const Column& column);
    void choose_place(const View& view, std::size_t n, Test& found) const;
    bool try_place(const View& view, std::size_t sums, double left, Test& found) const;

    const Shared& shared_;
    std::vector<std::uint32_t> rare_rows_;
    std::vector<std::uint64_t> rare_;  // a bit per position of a rare row; zero between features
    RareCodes codes_;
    std::vector<std::uint32_t> before_;  // per word: bits in the words before
    std::vector<std::uint32_t> moved_;   // per class; zero between features
};

extern template Tree grow_single_target<RareClassSearch>(const Dataset&, const Targets&,
                                                         const NodeRows&, const GrowOptions&,
                                                         StopSignal&);

}  // namespace ramify
