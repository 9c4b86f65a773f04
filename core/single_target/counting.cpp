#include "single_target/counting.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "single_target/counting_search.hpp"
#include "tree/builder.hpp"

namespace ramify {

namespace {

constexpr double relative_tolerance = 1e-9;

/// A node that waits to be grown.
struct Pending {
    NodeRows rows;
    Sums sums;
    std::vector<std::uint32_t> features;  // those that were not constant in the parent
    std::int64_t depth = 0;
    Place place;
    bool whole = true;  // every row is there once, with weight 1
    SumTable table;

    void take(std::uint32_t row, double weight, double part, bool positive) {
        rows.push_back(row, weight, part);
        sums = sums + Sums{weight, positive ? weight : 0.0, part};
        whole &= weight == 1.0 && part == 1.0;
    }
    /// Weight times the variance of the label.
    double impurity() const {
        return std::max(0.0, sums.positive * (1 - sums.positive / sums.weight));
    }
};

/// Which rows have the one label.
std::vector<char> positive_rows(const SparseRowsView& labels, std::size_t n_rows) {
    std::vector<char> positive(n_rows);
    for (std::size_t r = 0; r < n_rows; ++r) {
        positive[r] = labels.indptr[r] < labels.indptr[r + 1];
    }
    return positive;
}

class CountingGrower {
  public:
    CountingGrower(const Dataset& dataset, const Targets& targets, const GrowOptions& options)
        : dataset_(dataset),
          codes_(dataset.codes->of(dataset)),
          options_(options),
          label_weight_(targets.label_weight[0]),
          positive_(positive_rows(targets.labels, dataset.n_rows)),
          search_(dataset, positive_, options.rules, label_weight_) {}

    Tree grow(const NodeRows& rows, StopSignal& signal);

  private:
    Pending make_root(const NodeRows& rows) const;
    bool splittable(const Pending& node) const;
    bool find_test(Pending& node);
    Split as_split() const;
    void split(Pending& node, std::int32_t id, std::vector<Pending>& stack);
    void share_table(Pending& node, Pending& one, Pending& other);

    const Dataset& dataset_;
    const CodeColumns& codes_;
    const GrowOptions& options_;
    double label_weight_;
    std::vector<char> positive_;  // per row of the data set
    CountingSearch search_;
    CountedTest test_;  // of the node at hand
};

Pending CountingGrower::make_root(const NodeRows& rows) const {
    Pending root;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        root.take(rows.row[e], rows.weight[e], rows.part[e], positive_[rows.row[e]] != 0);
    }
    root.features.resize(dataset_.features.size());
    std::iota(root.features.begin(), root.features.end(), 0u);
    std::erase_if(root.features,
                  [&](std::uint32_t f) { return std::cmp_equal(f, options_.hidden); });
    return root;
}

bool CountingGrower::splittable(const Pending& node) const {
    const auto& rules = options_.rules;
    const double least_rows = std::max(options_.min_samples_split, 2 * rules.min_samples_leaf);
    return (options_.max_depth < 0 || node.depth < options_.max_depth) &&
           node.sums.rows >= least_rows * (1 - relative_tolerance) &&
           node.sums.weight >= 2 * rules.min_weight * (1 - relative_tolerance) &&
           node.sums.positive > 0 && node.sums.positive < node.sums.weight && label_weight_ > 0;
}

bool CountingGrower::find_test(Pending& node) {
    if (node.whole && node.table.empty() && search_.table_pays(node.rows.size())) {
        node.table = search_.make_table(node.rows, node.features);
    }
    test_ = search_.find({node.rows, node.sums, node.whole, node.table}, node.features);
    const double gain = test_.gain * label_weight_ * options_.rules.score_factor;
    return test_.feature >= 0 && gain >= options_.min_gain;
}

Split CountingGrower::as_split() const {
    const Feature& feature = dataset_.features[static_cast<std::size_t>(test_.feature)];
    Split split;
    split.feature = test_.feature;
    split.score = test_.score;
    split.gain = test_.gain * label_weight_;
    split.share = {test_.share(), 1 - test_.share()};
    if (feature.kind == FeatureKind::nominal) {
        // Declared categories that do not occur here answer "no".
        split.category_branch.assign(static_cast<std::size_t>(feature.n_categories), 1);
        for (const auto code : test_.categories) split.category_branch[code] = 0;
    } else {
        split.threshold = threshold_between(feature.values[test_.upper],
                                            feature.values[test_.lower], options_.rules.midpoint);
    }
    return split;
}

/// Hands the rows to the branches; the first branch ends up on top of the stack.
void CountingGrower::split(Pending& node, std::int32_t id, std::vector<Pending>& stack) {
    const auto f = static_cast<std::size_t>(test_.feature);
    const std::uint16_t* column = codes_.column(f);
    const std::uint32_t unknown = codes_.n_values[f];
    std::vector<char> yes(unknown, 0);
    if (dataset_.features[f].kind == FeatureKind::nominal) {
        for (const auto code : test_.categories) yes[code] = 1;
    } else {
        std::fill_n(yes.begin(), test_.upper + 1, char{1});
    }
    Pending branches[2];
    for (std::int32_t b = 0; b < 2; ++b) {
        branches[b].depth = node.depth + 1;
        branches[b].place = {id, b};
        branches[b].features = node.features;
    }
    const auto hand = [&](Pending& child, std::size_t e, double share) {
        const auto row = node.rows.row[e];
        child.take(row, node.rows.weight[e] * share, node.rows.part[e] * share,
                   positive_[row] != 0);
    };
    for (std::size_t e = 0; e < node.rows.size(); ++e) {
        const std::uint32_t code = column[node.rows.row[e]];
        if (code == unknown) {
            hand(branches[0], e, test_.share());
            hand(branches[1], e, 1 - test_.share());
        } else {
            hand(branches[yes[code] ? 0 : 1], e, 1.0);
        }
    }
    if (!node.table.empty() && branches[0].whole && branches[1].whole) {
        share_table(node, branches[0], branches[1]);
    }
    stack.push_back(std::move(branches[1]));
    stack.push_back(std::move(branches[0]));
}

/// Gives the larger branch the node's table without the smaller branch's.
void CountingGrower::share_table(Pending& node, Pending& one, Pending& other) {
    Pending& small = one.rows.size() < other.rows.size() ? one : other;
    Pending& large = &small == &one ? other : one;
    if (!splittable(large) || !search_.table_pays(large.rows.size())) return;
    SumTable table = search_.make_table(small.rows, node.features);
    for (const auto feature : node.features) {
        const auto first = codes_.first_cell[feature];
        for (auto k = first; k <= first + codes_.n_values[feature]; ++k) {
            node.table[k] = node.table[k] - table[k];
        }
    }
    large.table = std::move(node.table);
    if (search_.table_pays(small.rows.size())) small.table = std::move(table);
}

Tree CountingGrower::grow(const NodeRows& rows, StopSignal& signal) {
    TreeBuilder tree;
    const double factor = options_.rules.score_factor;
    std::vector<Pending> stack;
    stack.push_back(make_root(rows));
    while (!stack.empty()) {
        signal.check();
        Pending node = std::move(stack.back());
        stack.pop_back();
        const auto id = tree.add_node(node.place, node.sums.weight, node.rows.size());
        const bool inner = splittable(node) && find_test(node);
        if (!inner) {
            const LabelSum sum{0, node.sums.positive, label_weight_};
            tree.set_values(id, {&sum, 1}, node.sums.weight);
        }
        tree.set_impurity(id, node.impurity() * label_weight_ * factor, node.sums.weight);
        if (inner) {
            tree.set_split(id, as_split(), factor);
            split(node, id, stack);
        }
    }
    return std::move(tree).finish({});
}

}  // namespace

bool can_count(const Dataset& dataset, const Targets& targets, const GrowOptions& options) {
    const SplitRules& rules = options.rules;
    const bool all_features =
        options.max_features == 0 || options.max_features >= dataset.features.size();
    const bool nary = rules.nominal == NominalTests::nary &&
                      std::ranges::any_of(dataset.features, [](const Feature& feature) {
                          return feature.kind == FeatureKind::nominal;
                      });
    return targets.n_labels() == 1 && options.criterion == Criterion::variance && !rules.clus &&
           !rules.random_thresholds && !rules.gain_ratio && !rules.mean_score && all_features &&
           !nary && options.merging == LeafMerging::none && options.prototype == Prototype::mean &&
           !options.inner_values && !dataset.codes->of(dataset).empty();
}

Tree grow_by_counting(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                      const GrowOptions& options, StopSignal& signal) {
    return CountingGrower(dataset, targets, options).grow(root, signal);
}

}  // namespace ramify
