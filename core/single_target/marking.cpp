#include "single_target/marking.hpp"

#include <algorithm>
#include <utility>

#include "single_target/marking_search.hpp"
#include "tree/builder.hpp"

namespace ramify {

namespace {

constexpr double relative_tolerance = 1e-9;
/// Beyond, a node's bits are mostly those of other nodes' rows.
constexpr std::size_t most_rows = 16384;
constexpr std::size_t most_classes = 256;

/// A node that waits to be grown.
struct Pending {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> total;  // per class: rows
    std::int64_t depth = 0;
    Place place;
    std::vector<std::uint64_t> members;  // per feature and position a bit; empty: not made yet
};

/// One label: class 1 has it, class 0 has not. Several: each row has the class of its label.
std::vector<std::uint16_t> classes_of(const Targets& targets, std::size_t n_rows) {
    const auto& labels = targets.labels;
    std::vector<std::uint16_t> found(n_rows, 0);
    for (std::size_t r = 0; r < n_rows; ++r) {
        if (labels.indptr[r] == labels.indptr[r + 1]) continue;
        const auto label = labels.indices[static_cast<std::size_t>(labels.indptr[r])];
        found[r] = targets.n_labels() == 1 ? 1 : static_cast<std::uint16_t>(label);
    }
    return found;
}

class MarkingGrower {
  public:
    MarkingGrower(const Dataset& dataset, const Targets& targets, const GrowOptions& options)
        : dataset_(dataset),
          codes_(dataset.codes->of(dataset)),
          positions_(dataset.codes->positions_of(dataset)),
          options_(options),
          one_label_(targets.n_labels() == 1),
          label_weight_(targets.label_weight[0]),
          class_of_(classes_of(targets, dataset.n_rows)),
          n_classes_(one_label_ ? 2 : targets.n_labels()),
          n_words_(dataset.n_rows / 64 + 1),
          rare_(n_words_, 0),
          search_(n_classes_) {}

    Tree grow(const NodeRows& rows, StopSignal& signal);

  private:
    bool splittable(const Pending& node) const;
    bool find_test(Pending& node);
    void search(std::size_t feature, const Pending& node, const MarkedNode& marked);
    Split as_split(const Pending& node) const;
    std::uint32_t last_below(const std::uint64_t* members, std::size_t position) const;
    std::uint32_t first_from(const std::uint64_t* members, std::size_t position) const;
    void split(Pending& node, std::int32_t id, std::vector<Pending>& stack);
    void hand_members(Pending& node, Pending& one, Pending& other);
    void mark(const std::vector<std::uint32_t>& rows, std::vector<std::uint64_t>& members) const;
    void set_values(std::int32_t id, const Pending& node, TreeBuilder& tree);
    /// Weight times variance of a node's labels; one label counts for half of its two classes.
    double impurity(const Pending& node) const {
        const auto n = static_cast<double>(node.rows.size());
        return scale() * std::max(0.0, n - square(node) / n);
    }
    double scale() const { return one_label_ ? label_weight_ / 2 : label_weight_; }
    static double square(const Pending& node) {
        double sum = 0;
        for (const double n : node.total) sum += n * n;
        return sum;
    }

    const Dataset& dataset_;
    const CodeColumns& codes_;
    const PositionColumns& positions_;
    const GrowOptions& options_;
    bool one_label_;
    double label_weight_;
    std::vector<std::uint16_t> class_of_;  // per row of the data set
    std::size_t n_classes_;
    std::size_t n_words_;  // per feature
    MarkedTest test_;      // of the node at hand
    std::vector<std::uint32_t> rare_rows_;
    std::vector<std::uint64_t> rare_;
    MarkingSearch search_;
    std::vector<LabelSum> sums_;
};

bool MarkingGrower::splittable(const Pending& node) const {
    const auto n = static_cast<double>(node.rows.size());
    return (options_.max_depth < 0 || node.depth < options_.max_depth) && n >= 2 &&
           n >= options_.min_samples_split * (1 - relative_tolerance) &&
           *std::ranges::max_element(node.total) < node.rows.size() && label_weight_ > 0;
}

bool MarkingGrower::find_test(Pending& node) {
    if (node.members.empty()) {
        node.members.assign(dataset_.features.size() * n_words_, 0);
        mark(node.rows, node.members);
    }
    const auto most = std::ranges::max_element(node.total);
    const auto major = static_cast<std::uint16_t>(most - node.total.begin());
    rare_rows_.clear();
    for (const auto row : node.rows) {
        if (class_of_[row] != major) rare_rows_.push_back(row);
    }
    search_.make_room(rare_rows_.size(), n_words_);
    const auto n = static_cast<double>(node.rows.size());
    const double q = square(node);
    const MarkedNode marked{n,
                            q,
                            static_cast<double>(*most),
                            node.total.data(),
                            class_of_.data(),
                            relative_tolerance * (n - q / n)};
    test_ = {};
    for (std::size_t f = 0; f < dataset_.features.size(); ++f) {
        if (!std::cmp_equal(f, options_.hidden)) search(f, node, marked);
    }
    const double gain = test_.gain * scale() * options_.rules.score_factor;
    return test_.feature >= 0 && gain >= options_.min_gain;
}

void MarkingGrower::search(std::size_t f, const Pending& node, const MarkedNode& marked) {
    const std::uint16_t* position = positions_.position.data() + f * dataset_.n_rows;
    for (const auto row : rare_rows_) {
        rare_[position[row] / 64] |= std::uint64_t{1} << (position[row] % 64);
    }
    const MarkedFeature feature{node.members.data() + f * n_words_,
                                rare_.data(),
                                n_words_,
                                positions_.row.data() + f * dataset_.n_rows,
                                codes_.column(f),
                                positions_.start.data() + codes_.first_cell[f],
                                codes_.n_values[f] == dataset_.n_rows};
    if (search_.search(marked, feature, test_)) {
        test_.feature = static_cast<std::int32_t>(f);
    }
}

std::uint32_t MarkingGrower::last_below(const std::uint64_t* members, std::size_t position) const {
    do {
        --position;
    } while ((members[position / 64] >> (position % 64) & 1) == 0);
    return static_cast<std::uint32_t>(position);
}

std::uint32_t MarkingGrower::first_from(const std::uint64_t* members, std::size_t position) const {
    while ((members[position / 64] >> (position % 64) & 1) == 0) ++position;
    return static_cast<std::uint32_t>(position);
}

Split MarkingGrower::as_split(const Pending& node) const {
    const auto f = static_cast<std::size_t>(test_.feature);
    const std::uint64_t* members = node.members.data() + f * n_words_;
    const std::uint16_t* row = positions_.row.data() + f * dataset_.n_rows;
    const std::size_t position = positions_.start[codes_.first_cell[f] + test_.bound];
    const auto& values = dataset_.features[f].values;
    const double upper = values[codes_.column(f)[row[last_below(members, position)]]];
    const double lower = values[codes_.column(f)[row[first_from(members, position)]]];
    const double share = test_.left / static_cast<double>(node.rows.size());
    Split split;
    split.feature = test_.feature;
    split.gain = test_.gain * scale();
    split.score = split.gain * options_.rules.score_factor;
    split.share = {share, 1 - share};
    split.threshold = threshold_between(upper, lower, options_.rules.midpoint);
    return split;
}

void MarkingGrower::mark(const std::vector<std::uint32_t>& rows,
                         std::vector<std::uint64_t>& members) const {
    for (std::size_t f = 0; f < dataset_.features.size(); ++f) {
        const std::uint16_t* position = positions_.position.data() + f * dataset_.n_rows;
        std::uint64_t* words = members.data() + f * n_words_;
        for (const auto row : rows) {  // turns bits round: a second time, they are gone
            words[position[row] / 64] ^= std::uint64_t{1} << (position[row] % 64);
        }
    }
}

/// Hands the rows to the branches; the first branch ends up on top of the stack.
void MarkingGrower::split(Pending& node, std::int32_t id, std::vector<Pending>& stack) {
    const std::uint16_t* column = codes_.column(static_cast<std::size_t>(test_.feature));
    Pending branches[2];
    for (std::int32_t b = 0; b < 2; ++b) {
        branches[b].depth = node.depth + 1;
        branches[b].place = {id, b};
        branches[b].total.assign(n_classes_, 0);
    }
    for (const auto row : node.rows) {
        Pending& child = branches[column[row] < test_.bound ? 0 : 1];
        child.rows.push_back(row);
        child.total[class_of_[row]] += 1;
    }
    hand_members(node, branches[0], branches[1]);
    stack.push_back(std::move(branches[1]));
    stack.push_back(std::move(branches[0]));
}

/// Gives the larger branch the node's bits without the smaller branch's.
void MarkingGrower::hand_members(Pending& node, Pending& one, Pending& other) {
    Pending& small = one.rows.size() < other.rows.size() ? one : other;
    Pending& large = &small == &one ? other : one;
    if (!splittable(large)) return;
    mark(small.rows, node.members);
    large.members = std::move(node.members);
}

void MarkingGrower::set_values(std::int32_t id, const Pending& node, TreeBuilder& tree) {
    sums_.clear();
    if (one_label_) {
        sums_.push_back({0, static_cast<double>(node.total[1]), label_weight_});
    } else {
        for (std::size_t c = 0; c < n_classes_; ++c) {
            if (node.total[c] == 0) continue;
            const auto label = static_cast<std::int32_t>(c);
            sums_.push_back({label, static_cast<double>(node.total[c]), label_weight_});
        }
    }
    tree.set_values(id, sums_, static_cast<double>(node.rows.size()));
}

Tree MarkingGrower::grow(const NodeRows& rows, StopSignal& signal) {
    TreeBuilder tree;
    std::vector<Pending> stack(1);
    stack[0].rows = rows.row;
    stack[0].total.assign(n_classes_, 0);
    for (const auto row : rows.row) stack[0].total[class_of_[row]] += 1;
    while (!stack.empty()) {
        signal.check();
        Pending node = std::move(stack.back());
        stack.pop_back();
        const auto weight = static_cast<double>(node.rows.size());
        const auto id = tree.add_node(node.place, weight, node.rows.size());
        const bool inner = splittable(node) && find_test(node);
        if (!inner) set_values(id, node, tree);
        tree.set_impurity(id, impurity(node) * options_.rules.score_factor, weight);
        if (inner) {
            tree.set_split(id, as_split(node), options_.rules.score_factor);
            split(node, id, stack);
        }
    }
    return std::move(tree).finish({});
}

/// Whether the options ask for nothing but the largest gain.
bool options_are_plain(const GrowOptions& options, std::size_t n_features) {
    const SplitRules& rules = options.rules;
    const bool all_features = options.max_features == 0 || options.max_features >= n_features;
    return options.criterion == Criterion::variance && !rules.clus && !rules.random_thresholds &&
           !rules.gain_ratio && !rules.mean_score && !rules.c45 && !options.average_gain &&
           rules.f_critical.empty() && rules.min_samples_leaf <= 1 && rules.min_weight <= 1 &&
           all_features && options.merging == LeafMerging::none &&
           options.prototype == Prototype::mean && !options.inner_values;
}

/// Whether every row has one class, and half of them or more the same.
bool classes_suit(const Targets& targets, const NodeRows& root) {
    const std::size_t n_labels = targets.n_labels();
    if (n_labels == 0 || n_labels > most_classes) return false;
    const auto same_weight = [&](double w) { return w == targets.label_weight[0]; };
    if (!std::ranges::all_of(targets.label_weight, same_weight)) return false;
    std::vector<std::size_t> total(n_labels + 1, 0);  // the last: rows without a label
    for (const auto row : root.row) {
        const auto begin = targets.labels.indptr[row];
        const auto n = targets.labels.indptr[row + 1] - begin;
        if (n > 1 || (n_labels > 1 && n == 0)) return false;
        const auto place = static_cast<std::size_t>(begin);
        ++total[n == 0 ? n_labels : static_cast<std::size_t>(targets.labels.indices[place])];
    }
    return 2 * *std::ranges::max_element(total) >= root.size();
}

}  // namespace

bool can_mark(const Dataset& dataset, const Targets& targets, const NodeRows& root,
              const GrowOptions& options) {
    const auto is_one = [](double x) { return x == 1; };
    const auto is_numeric = [](const Feature& f) { return f.kind != FeatureKind::nominal; };
    return options_are_plain(options, dataset.features.size()) && !dataset.any_missing &&
           dataset.n_rows <= most_rows && std::ranges::all_of(dataset.features, is_numeric) &&
           std::ranges::all_of(root.weight, is_one) && std::ranges::all_of(root.part, is_one) &&
           classes_suit(targets, root) && !dataset.codes->of(dataset).empty();
}

Tree grow_by_marks(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                   const GrowOptions& options, StopSignal& signal) {
    return MarkingGrower(dataset, targets, options).grow(root, signal);
}

}  // namespace ramify
