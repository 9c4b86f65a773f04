#include "growing/general_search.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "common/parallel.hpp"
#include "data/label_sums.hpp"
#include "growing/feature_sampler.hpp"
#include "growing/gain_ratio.hpp"
#include "growing/grower.hpp"
#include "growing/node.hpp"
#include "growing/partition.hpp"
#include "growing/splitter.hpp"
#include "tree/builder.hpp"
#include "tree/known_shares.hpp"
#include "tree/medoid.hpp"

namespace ramify {

namespace {

constexpr std::size_t not_kept = static_cast<std::size_t>(-1);

/// Implements TestSearch for any number of labels and any options.
class GeneralSearch {
  public:
    using Node = Pending;
    using Test = Split;
    struct View {
        const Pending& node;
    };
    /// One feature to search in a node; kept: its place among the kept orders.
    struct Task {
        std::uint32_t feature;
        std::size_t kept;
    };

    GeneralSearch(const Shared& shared, JavaRandom* java)
        : shared_(shared),
          splitter_(make_splitter(shared.dataset, shared.targets, shared.options)),
          labels_builder_(shared.targets, shared.in_label_order()
                                              ? Compression{}
                                              : splitter_->needs().compression),
          label_sums_(shared.targets),
          medoid_(shared.targets),
          target_prototype_(shared.targets.table == nullptr
                                ? nullptr
                                : std::make_unique<TargetPrototype>(*shared.targets.table)),
          known_shares_(shared.targets.unknown == nullptr
                            ? nullptr
                            : std::make_unique<KnownShares>(shared.targets)),
          sorted_(shared.dataset, shared.options.rules),
          sampler_(shared.dataset.features.size()),
          java_(java),
          partition_(shared.dataset, shared.keep_orders || splitter_->needs().labels) {}

    Pending make_root(NodeRows rows);
    void expect(const Pending& root, TreeBuilder& tree) const {
        if (shared_.targets.table == nullptr) tree.expect_values(count_labels(root.rows));
    }
    void set_aside(Pending&) const {}
    void put_back(Pending&& node) { spare_.put_back(std::move(node)); }
    std::size_t n_pairs(const Pending& node) const { return node.size() * shared_.n_tried(); }

    View begin(const Pending& node, const Team<GeneralSearch>&);
    void join(const View& view);
    std::vector<Task>& tasks(const Pending&) { return tasks_; }
    Competition competition() const { return splitter_->scoring().competition(); }
    double beat(const View&, double score) const {
        return score + splitter_->scoring().tolerance().step;
    }
    double beat_for_certain(const View&, double) const { return rejected; }
    Found search(const View& view, const Task& task, double beat, Split& found);
    std::size_t best_ratio(const View& view, std::span<const Split> tests) const;
    void finish(const View& view, Split& best);

    void describe(const Pending& node, std::int32_t id, TreeBuilder& tree);
    double impurity(const Pending&) const { return splitter_->node_impurity(); }
    const Split& as_split(const Pending&, const Split& test) const { return test; }
    void divide(const Pending& node, const Split& split, std::vector<Pending>& stack);
    void hand_down(const Pending& node, std::span<Pending> children,
                   const Team<GeneralSearch>& team);

  private:
    const NodeLabels& labels_of(const Pending& node) const {
        return node.labels == nullptr ? no_labels_ : *node.labels;
    }
    void list_tasks(const Pending& node);
    FeatureOrder order_of(const Pending& node, const Split& split);
    void hand_labels_down(const Pending& node, Pending& child);
    void add_kernel(Pending& node);
    std::size_t count_labels(const NodeRows& rows) const;

    const Shared& shared_;
    std::unique_ptr<Splitter> splitter_;
    NodeLabelsBuilder labels_builder_;
    const NodeLabels no_labels_;
    LabelSums label_sums_;
    Medoid medoid_;
    std::unique_ptr<TargetPrototype> target_prototype_;  // if the targets are a table
    std::unique_ptr<KnownShares> known_shares_;          // if labels are unknown
    SortedOrders sorted_;
    FeatureSampler sampler_;
    JavaRandom* java_;
    SplitMix random_{0};  // of the current node
    std::vector<Task> tasks_;
    Partition partition_;
    std::vector<KeptOrders::Child> heirs_;  // children that may be split
    SpareNodes spare_;
};

void GeneralSearch::list_tasks(const Pending& node) {
    tasks_.clear();
    const std::size_t n_features = shared_.dataset.features.size();
    if (shared_.keep_orders) {
        for (std::size_t k = 0; k < node.orders.size(); ++k) {
            tasks_.push_back({node.orders.feature(k), k});
        }
        return;
    }
    const std::size_t wanted = shared_.n_tried();
    if (wanted == n_features) {
        for (std::uint32_t f = 0; f < n_features; ++f) tasks_.push_back({f, not_kept});
        return;
    }
    if (java_ != nullptr) {
        for (const auto feature : draw_like_clus(*java_, n_features, wanted)) {
            tasks_.push_back({feature, not_kept});
        }
        return;
    }
    for (std::size_t k = 0; k < wanted; ++k)
        tasks_.push_back({sampler_.draw(k, random_), not_kept});
    std::ranges::sort(tasks_, {}, &Task::feature);
}

/// The draws for a feature depend on the node and the feature only.
SplitMix feature_random(std::uint64_t node_seed, std::uint32_t feature) {
    return SplitMix(mix(node_seed ^ mix(feature + 1u)));
}

GeneralSearch::View GeneralSearch::begin(const Pending& node, const Team<GeneralSearch>&) {
    random_ = SplitMix(node.seed);
    list_tasks(node);
    const View view{node};
    join(view);
    if (!(splitter_->node_impurity() > 0)) tasks_.clear();
    return view;
}

void GeneralSearch::join(const View& view) {
    splitter_->reset(view.node.rows, labels_of(view.node));
    if (!shared_.keep_orders) sorted_.reset(view.node.rows);
}

Found GeneralSearch::search(const View& view, const Task& task, double beat, Split& found) {
    const Pending& node = view.node;
    if (competition() != Competition::in_turn) {
        found.score = rejected;
        found.feature = -1;
    }
    if (std::cmp_equal(task.feature, shared_.options.hidden_feature)) return Found::nothing;
    splitter_->set_beat(beat);
    splitter_->set_may_learn(std::ranges::find(node.divided, task.feature) == node.divided.end());
    SplitMix random = feature_random(node.seed, task.feature);
    const FeatureOrder order =
        task.kept != not_kept ? node.orders.order(task.kept) : sorted_.order_of(task.feature);
    if (shared_.dataset.features[task.feature].kind == FeatureKind::nominal) {
        splitter_->search_nominal(task.feature, order, random, found);
    } else {
        splitter_->search_numeric(task.feature, order, random, found);
    }
    return found.feature >= 0 ? Found::test : Found::nothing;
}

std::size_t GeneralSearch::best_ratio(const View& view, std::span<const Split> tests) const {
    return choose_by_ratio(tests, {shared_.dataset, view.node.rows, view.node.weight});
}

/// Draws further features until one splits the node, if so wanted.
void GeneralSearch::finish(const View& view, Split& best) {
    const bool redraws = shared_.options.redraw && !shared_.keep_orders;
    if (redraws && splitter_->node_impurity() > 0) {
        for (std::size_t k = tasks_.size(); k < sampler_.size() && best.feature < 0; ++k) {
            if (view.node.size() > 1000) shared_.signal.check();
            search(view, {sampler_.draw(k, random_), not_kept}, rejected, best);
        }
    }
    sampler_.undo();
}

Pending GeneralSearch::make_root(NodeRows rows) {
    Pending root;
    root.rows = std::move(rows);
    root.seed = mix(shared_.options.seed);
    shared_.weigh(root);
    if (!root.splittable) return root;
    if (splitter_->needs().labels) {
        root.labels = std::make_unique<NodeLabels>();
        if (splitter_->needs().kernel && shared_.may_share_numbers()) {
            // All rows were numbered: the entry of a row there is the row itself.
            labels_builder_.build_below(*shared_.targets.numbered, root.rows.row, root.rows,
                                        *root.labels);
        } else {
            labels_builder_.build(root.rows, *root.labels);
        }
        add_kernel(root);
    }
    if (shared_.keep_orders) {
        root.orders = KeptOrders::of_root(shared_.dataset, root.rows, shared_.options.rules,
                                          shared_.options.n_threads, shared_.signal);
    }
    return root;
}

FeatureOrder GeneralSearch::order_of(const Pending& node, const Split& split) {
    const auto f = static_cast<std::uint32_t>(split.feature);
    if (shared_.dataset.features[f].kind != FeatureKind::sparse) return {};
    return shared_.keep_orders ? node.orders.order_of(f) : sorted_.order_of(f);
}

void GeneralSearch::divide(const Pending& node, const Split& split, std::vector<Pending>& stack) {
    partition_.assign(node.rows, split, order_of(node, split));
    for (std::size_t b = partition_.n_branches(); b-- > 0;) {
        Pending child = spare_.take(node.rows.size());
        child.depth = node.depth + 1;
        child.seed = mix(node.seed + b + 1);
        child.divided = node.divided;
        if (shared_.dataset.any_missing && split.missing_branch < 0) {
            child.divided.push_back(static_cast<std::uint32_t>(split.feature));
        }
        partition_.take_rows(b, child.rows);
        shared_.weigh(child);
        if (child.splittable && splitter_->needs().labels) hand_labels_down(node, child);
        stack.push_back(std::move(child));
    }
}

void GeneralSearch::hand_down(const Pending& node, std::span<Pending> children,
                              const Team<GeneralSearch>& team) {
    if (!shared_.keep_orders) return;
    heirs_.clear();
    for (Pending& child : children) {
        if (!child.splittable) continue;
        const auto branch = static_cast<std::size_t>(child.place.branch);
        heirs_.push_back({partition_.entries(branch), child.rows.size(), &child.orders});
    }
    if (team.divides(node.rows.size() * node.orders.size())) {
        node.orders.hand_down_together(shared_.dataset, heirs_, static_cast<unsigned>(team.size()),
                                       shared_.signal);
    } else {
        node.orders.hand_down(shared_.dataset, heirs_);
    }
}

/// Finds the labels of a child among those of its parent, or, where their order matters to CLUS,
/// among all.
void GeneralSearch::hand_labels_down(const Pending& node, Pending& child) {
    if (child.labels == nullptr) child.labels = std::make_unique<NodeLabels>();
    const NodeLabels& from = *node.labels;
    NodeLabels& to = *child.labels;
    const bool by_kernel = !from.kernel.empty();
    const auto above = partition_.above();
    to.kernel.clear();
    to.weight = child.weight;
    if (by_kernel) to.kernel.restrict_to(from.kernel, above, child.rows);
    if (by_kernel && !shared_.in_label_order()) return;
    if (shared_.in_label_order()) {
        labels_builder_.build(child.rows, to);
    } else {
        labels_builder_.build_below(from, above, child.rows, to);
    }
    if (!by_kernel) add_kernel(child);
}

void GeneralSearch::add_kernel(Pending& node) {
    if (splitter_->needs().kernel && Kernel::pays(*node.labels, shared_.n_tried())) {
        node.labels->kernel.compute(*node.labels, node.rows);
    }
}

std::size_t GeneralSearch::count_labels(const NodeRows& rows) const {
    std::size_t n = 0;
    for (const auto row : rows.row) n += shared_.targets.labels.row(row).size();
    return n;
}

void GeneralSearch::describe(const Pending& node, std::int32_t id, TreeBuilder& tree) {
    if (target_prototype_ != nullptr) {
        target_prototype_->compute(node.rows);
        tree.set_values(id, target_prototype_->columns(), target_prototype_->values());
        splitter_->reset(node.rows, labels_of(node));
        tree.set_impurity(id, splitter_->node_impurity(), node.weight);
        return;
    }
    const auto sums = label_sums_.of(node.rows);
    if (shared_.options.prototype == Prototype::medoid) {
        tree.set_labels(id, medoid_.of(node.rows, sums));
    } else if (known_shares_ != nullptr) {
        known_shares_->compute(node.rows, node.weight, sums);
        tree.set_values(id, known_shares_->labels(), known_shares_->values());
    } else {
        tree.set_values(id, sums, shared_.options.sums ? 1.0 : node.weight);
    }
    if (splitter_->needs().impurity_of != nullptr) {
        const double impurity = splitter_->needs().impurity_of(sums, node.weight);
        tree.set_impurity(id, impurity * shared_.options.rules.score_factor, node.weight);
    } else {
        splitter_->reset(node.rows, labels_of(node));
        tree.set_impurity(id, splitter_->node_impurity(), node.weight);
    }
}

}  // namespace

Tree grow_general(const Dataset& dataset, const Targets& targets, NodeRows root,
                  const GrowOptions& options, StopSignal& signal) {
    // One pass over a feature finds its random test: no order is worth keeping.
    const bool keep_orders =
        !options.rules.random_thresholds && options.uses_all_features(dataset.features.size());
    const Shared shared{dataset, targets,     options,
                        signal,  keep_orders, dataset.has(FeatureKind::nominal)};
    JavaRandom java(options.seed);
    Crew<GeneralSearch> crew;
    // Under CLUS's rules a feature competes with those searched before it.
    const unsigned n_threads = options.rules.clus ? 1 : std::max(1u, options.n_threads);
    for (unsigned t = 0; t < n_threads; ++t) {
        crew.push_back(
            std::make_unique<GeneralSearch>(shared, options.java_random ? &java : nullptr));
    }
    return grow_tree(crew, crew[0]->make_root(std::move(root)), options, signal);
}

}  // namespace ramify
