#include "growing/grow.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "common/parallel.hpp"
#include "common/tolerance.hpp"
#include "data/label_sums.hpp"
#include "growing/crew.hpp"
#include "growing/engine.hpp"
#include "growing/feature_sampler.hpp"
#include "growing/gain_ratio.hpp"
#include "growing/node.hpp"
#include "growing/partition.hpp"
#include "growing/splitter.hpp"
#include "single_target/counting.hpp"
#include "single_target/rare_class.hpp"
#include "tree/builder.hpp"
#include "tree/medoid.hpp"
#include "tree/prune.hpp"
#include "tree/prune_pessimistic.hpp"

namespace ramify {

namespace {

/// One feature to search in a node; kept: its place among the kept orders.
struct Task {
    std::uint32_t feature;
    std::size_t kept;
};

constexpr std::size_t not_kept = static_cast<std::size_t>(-1);

/// Grows nodes depth first. One per thread.
class Grower {
  public:
    Grower(const Work& work, JavaRandom* java)
        : work_(work),
          splitter_(make_splitter(work.dataset, work.targets, work.options.criterion,
                                  work.options.rules)),
          labels_builder_(work.targets,
                          work.in_label_order() ? Compression{} : splitter_->needs().compression),
          label_sums_(work.targets),
          medoid_(work.targets),
          target_prototype_(work.targets.table == nullptr
                                ? nullptr
                                : std::make_unique<TargetPrototype>(*work.targets.table)),
          sorted_(work.dataset, work.options.rules.clus),
          sampler_(work.dataset.features.size()),
          java_(java),
          partition_(work.dataset) {}

    using Node = Pending;

    Pending make_root(NodeRows rows);
    std::size_t work(const Pending& node) const { return node.size() * work_.n_tried(); }
    void expect(const Pending& root, TreeBuilder& tree) const {
        if (work_.targets.table == nullptr) tree.expect_values(count_labels(root.rows));
    }
    void set_aside(Pending&) const {}
    void expand(Pending node, std::int32_t id, TreeBuilder& tree, std::vector<Pending>& stack,
                Crew<Grower>* crew);

  private:
    bool find_split(const Pending& node, Crew<Grower>* crew);
    void list_tasks(const Pending& node, SplitMix& random);
    void search(const Pending& node, const Task& task, SplitMix random, Split& best);
    void search_alone(const Pending& node);
    void search_together(const Pending& node, Crew<Grower>& crew);
    void search_further(const Pending& node, SplitMix& random);
    void choose(const Pending& node, std::span<Split> found);
    void split(Pending& node, std::int32_t id, std::vector<Pending>& stack, Crew<Grower>* crew);
    FeatureOrder order_of_split(const Pending& node);
    void hand_orders_down(const Pending& node, std::span<Pending> children, Crew<Grower>* crew);
    void hand_labels_down(const Pending& node, Pending& child);
    void add_kernel(Pending& node);
    std::size_t count_labels(const NodeRows& rows) const;
    void set_prototype(const Pending& node, std::int32_t id, TreeBuilder& tree);

    const Work& work_;
    std::unique_ptr<Splitter> splitter_;
    NodeLabelsBuilder labels_builder_;
    LabelSums label_sums_;
    Medoid medoid_;
    std::unique_ptr<TargetPrototype> target_prototype_;  // if the targets are a table
    SortedOrders sorted_;
    FeatureSampler sampler_;
    JavaRandom* java_;
    std::vector<Task> tasks_;
    Split best_;
    Split trial_;
    std::vector<Split> found_;  // per task, if features are compared at the end
    Partition partition_;
    std::vector<KeptOrders::Child> heirs_;  // children that may be split
    SpareNodes spare_;
};

void Grower::list_tasks(const Pending& node, SplitMix& random) {
    tasks_.clear();
    const std::size_t n_features = work_.dataset.features.size();
    if (work_.keep_orders) {
        for (std::size_t k = 0; k < node.orders.size(); ++k) {
            tasks_.push_back({node.orders.feature(k), k});
        }
        return;
    }
    const std::size_t wanted = std::min(work_.options.max_features, n_features);
    if (java_ != nullptr) {
        for (const auto feature : draw_like_clus(*java_, n_features, wanted)) {
            tasks_.push_back({feature, not_kept});
        }
        return;
    }
    for (std::size_t k = 0; k < wanted; ++k)
        tasks_.push_back({sampler_.draw(k, random), not_kept});
    std::ranges::sort(tasks_, {}, &Task::feature);
}

void Grower::search(const Pending& node, const Task& task, SplitMix random, Split& best) {
    if (std::cmp_equal(task.feature, work_.options.hidden_feature)) return;
    // A feature of a node this small is searched in far less than a millisecond.
    if (node.rows.size() > 1000) work_.signal.check();
    const FeatureOrder order =
        task.kept != not_kept ? node.orders.order(task.kept) : sorted_.order_of(task.feature);
    if (work_.dataset.features[task.feature].kind == FeatureKind::nominal) {
        splitter_->search_nominal(task.feature, order, random, best);
    } else {
        splitter_->search_numeric(task.feature, order, random, best);
    }
}

/// The draws for a feature depend on the node and the feature only.
SplitMix feature_random(std::uint64_t node_seed, std::uint32_t feature) {
    return SplitMix(mix(node_seed ^ mix(feature + 1u)));
}

void Grower::search_alone(const Pending& node) {
    if (splitter_->scoring().competition() == Competition::by_ratio) {
        found_.resize(tasks_.size());
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            found_[i].feature = -1;
            found_[i].score = Split{}.score;
            search(node, tasks_[i], feature_random(node.seed, tasks_[i].feature), found_[i]);
        }
        choose(node, found_);
        return;
    }
    for (const Task& task : tasks_) {
        const auto random = feature_random(node.seed, task.feature);
        if (splitter_->scoring().competition() == Competition::in_turn) {
            search(node, task, random, best_);
            continue;
        }
        trial_.score = Split{}.score;
        trial_.feature = -1;
        splitter_->set_bar(best_.score);
        search(node, task, random, trial_);
        if (trial_.feature >= 0 &&
            splitter_->scoring().tolerance().better(trial_.score, best_.score)) {
            std::swap(best_, trial_);
        }
    }
}

void Grower::search_together(const Pending& node, Crew<Grower>& crew) {
    std::vector<Split> found(tasks_.size());
    const auto n_threads = static_cast<unsigned>(crew.size());
    for (auto& member : crew) {
        if (member.get() == this) continue;
        member->splitter_->reset(node.rows, node.labels);
        if (!work_.keep_orders) member->sorted_.reset(node.rows);
    }
    parallel_for(n_threads, tasks_.size(), work_.signal, [&](unsigned thread, std::size_t i) {
        crew[thread]->search(node, tasks_[i], feature_random(node.seed, tasks_[i].feature),
                             found[i]);
    });
    choose(node, found);
}

/// Compares the best tests of all features in feature order, as search_alone does.
void Grower::choose(const Pending& node, std::span<Split> found) {
    if (splitter_->scoring().competition() == Competition::by_ratio) {
        const auto k = choose_by_ratio(found, {work_.dataset, node.rows, node.weight});
        if (k < found.size()) std::swap(best_, found[k]);
        return;
    }
    for (auto& split : found) {
        if (split.feature >= 0 &&
            splitter_->scoring().tolerance().better(split.score, best_.score)) {
            best_ = std::move(split);
        }
    }
}

/// Draws further features until one splits the node.
void Grower::search_further(const Pending& node, SplitMix& random) {
    for (std::size_t k = tasks_.size(); k < sampler_.size() && best_.feature < 0; ++k) {
        const Task task{sampler_.draw(k, random), not_kept};
        search(node, task, feature_random(node.seed, task.feature), best_);
    }
}

bool Grower::find_split(const Pending& node, Crew<Grower>* crew) {
    best_ = Split{};
    SplitMix random(node.seed);
    list_tasks(node, random);
    splitter_->reset(node.rows, node.labels);
    if (!work_.keep_orders) sorted_.reset(node.rows);
    if (splitter_->node_impurity() > 0) {
        if (crew != nullptr && node.rows.size() * tasks_.size() >= min_shared_work) {
            search_together(node, *crew);
        } else {
            search_alone(node);
        }
        if (work_.options.redraw && !work_.keep_orders) search_further(node, random);
    }
    sampler_.undo();
    return best_.feature >= 0 &&
           reaches(best_.gain * work_.options.rules.score_factor, work_.options.min_gain);
}

Pending Grower::make_root(NodeRows rows) {
    Pending root;
    root.rows = std::move(rows);
    root.seed = mix(work_.options.seed);
    work_.weigh(root);
    if (!root.splittable) return root;
    if (splitter_->needs().labels) {
        if (splitter_->needs().kernel && work_.may_share_numbers()) {
            // All rows were numbered: the entry of a row there is the row itself.
            labels_builder_.build_below(*work_.targets.numbered, root.rows.row, root.rows,
                                        root.labels);
        } else {
            labels_builder_.build(root.rows, root.labels);
        }
        add_kernel(root);
    }
    if (work_.keep_orders) {
        root.orders = KeptOrders::of_root(work_.dataset, root.rows, work_.options.rules.clus,
                                          work_.options.n_threads, work_.signal);
    }
    return root;
}

FeatureOrder Grower::order_of_split(const Pending& node) {
    const auto f = static_cast<std::uint32_t>(best_.feature);
    if (work_.dataset.features[f].kind != FeatureKind::sparse) return {};
    return work_.keep_orders ? node.orders.order_of(f) : sorted_.order_of(f);
}

/// Hands the rows to the branches; the first branch ends up on top of the stack.
void Grower::split(Pending& node, std::int32_t id, std::vector<Pending>& stack,
                   Crew<Grower>* crew) {
    partition_.assign(node.rows, best_, order_of_split(node));
    const std::size_t n_waiting = stack.size();
    for (std::size_t b = partition_.n_branches(); b-- > 0;) {
        Pending child = spare_.take(node.rows.size());
        child.depth = node.depth + 1;
        child.seed = mix(node.seed + b + 1);
        child.place = {id, static_cast<std::int32_t>(b)};
        partition_.take_rows(b, child.rows);
        work_.weigh(child);
        if (child.splittable && splitter_->needs().labels) hand_labels_down(node, child);
        stack.push_back(std::move(child));
    }
    if (work_.keep_orders) hand_orders_down(node, std::span(stack).subspan(n_waiting), crew);
}

/// `children`: from the last branch to the first.
void Grower::hand_orders_down(const Pending& node, std::span<Pending> children,
                              Crew<Grower>* crew) {
    heirs_.clear();
    for (Pending& child : children) {
        if (!child.splittable) continue;
        const auto branch = static_cast<std::size_t>(child.place.branch);
        heirs_.push_back({partition_.entries(branch), child.rows.size(), &child.orders});
    }
    if (crew != nullptr && node.rows.size() * node.orders.size() >= min_shared_work) {
        node.orders.hand_down_together(work_.dataset, heirs_, static_cast<unsigned>(crew->size()),
                                       work_.signal);
    } else {
        node.orders.hand_down(work_.dataset, heirs_);
    }
}

/// Finds the labels of a child among those of its parent, or, where their order matters to CLUS,
/// among all.
void Grower::hand_labels_down(const Pending& node, Pending& child) {
    const bool by_kernel = !node.labels.kernel.empty();
    const auto above = partition_.above();
    child.labels.kernel.clear();
    child.labels.weight = child.weight;
    if (by_kernel) child.labels.kernel.restrict_to(node.labels.kernel, above, child.rows);
    if (by_kernel && !work_.in_label_order()) return;
    if (work_.in_label_order()) {
        labels_builder_.build(child.rows, child.labels);
    } else {
        labels_builder_.build_below(node.labels, above, child.rows, child.labels);
    }
    if (!by_kernel) add_kernel(child);
}

void Grower::add_kernel(Pending& node) {
    if (splitter_->needs().kernel && Kernel::pays(node.labels, work_.n_tried())) {
        node.labels.kernel.compute(node.labels, node.rows);
    }
}

std::size_t Grower::count_labels(const NodeRows& rows) const {
    std::size_t n = 0;
    for (const auto row : rows.row) n += work_.targets.labels.row(row).size();
    return n;
}

void Grower::set_prototype(const Pending& node, std::int32_t id, TreeBuilder& tree) {
    if (target_prototype_ != nullptr) {
        target_prototype_->compute(node.rows);
        tree.set_values(id, target_prototype_->columns(), target_prototype_->values());
        splitter_->reset(node.rows, node.labels);
        tree.set_impurity(id, splitter_->node_impurity(), node.weight);
        return;
    }
    const auto sums = label_sums_.of(node.rows);
    if (work_.options.prototype == Prototype::medoid) {
        tree.set_labels(id, medoid_.of(node.rows, sums));
    } else {
        tree.set_values(id, sums, work_.options.sums ? 1.0 : node.weight);
    }
    if (splitter_->needs().labels) {
        const double impurity = splitter_->needs().impurity_of(sums, node.weight);
        tree.set_impurity(id, impurity * work_.options.rules.score_factor, node.weight);
    } else {
        splitter_->reset(node.rows, node.labels);
        tree.set_impurity(id, splitter_->node_impurity(), node.weight);
    }
}

void Grower::expand(Pending node, std::int32_t id, TreeBuilder& tree, std::vector<Pending>& stack,
                    Crew<Grower>* crew) {
    const bool inner = node.splittable && find_split(node, crew);
    if (!inner || work_.options.keeps_inner_values()) set_prototype(node, id, tree);
    if (inner) {
        tree.set_impurity(id, splitter_->node_impurity(), node.weight);
        tree.set_split(id, best_, work_.options.rules.score_factor);
        split(node, id, stack, crew);
    }
    spare_.put_back(std::move(node));
}

Tree grow_general(const Dataset& dataset, const Targets& targets, NodeRows root,
                  const GrowOptions& options, StopSignal& signal) {
    const bool keep_orders = options.uses_all_features(dataset.features.size());
    const Work work{dataset, targets,     options,
                    signal,  keep_orders, dataset.has(FeatureKind::nominal)};
    JavaRandom java(options.seed);
    Crew<Grower> crew;
    // Under CLUS's rules a feature competes with those searched before it.
    const unsigned n_threads = options.rules.clus ? 1 : std::max(1u, options.n_threads);
    for (unsigned t = 0; t < n_threads; ++t) {
        crew.push_back(std::make_unique<Grower>(work, options.java_random ? &java : nullptr));
    }
    return grow_tree(crew, crew[0]->make_root(std::move(root)), signal);
}

/// Grows a tree in which nodes without a known value of a target have that of the node above.
Tree grow_inheriting(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                     GrowOptions options, StopSignal& signal) {
    const bool inner_values = options.inner_values || options.pessimism.confidence > 0;
    options.inner_values = true;
    const Tree tree =
        inherit_values(grow_general(dataset, targets, root, options, signal), *targets.table);
    return merge_leaves(tree, options.merging, inner_values, targets.table);
}

}  // namespace

Tree grow(const Dataset& dataset, const Targets& targets, NodeRows root,
          const GrowOptions& options) {
    StopSignal signal(options.interrupted);
    switch (choose_engine(dataset, targets, root, options)) {
        case Engine::counting:
            return grow_single_target<CountingSearch>(dataset, targets, root, options, signal);
        case Engine::rare_class:
            return grow_single_target<RareClassSearch>(dataset, targets, root, options, signal);
        case Engine::automatic:
        case Engine::general:
            break;
    }
    const bool prunes = options.pessimism.confidence > 0;
    if (targets.table != nullptr && targets.table->any_unknown && targets.table->inherit) {
        Tree tree = grow_inheriting(dataset, targets, root, options, signal);
        return prunes ? prune_pessimistic(tree, dataset, targets, root, options, signal) : tree;
    }
    if (prunes) {
        Tree tree = grow_general(dataset, targets, root, options, signal);
        if (options.merging != LeafMerging::none) {
            tree = merge_leaves(tree, options.merging, true, targets.table);
        }
        return prune_pessimistic(tree, dataset, targets, root, options, signal);
    }
    Tree tree = grow_general(dataset, targets, std::move(root), options, signal);
    if (options.merging == LeafMerging::none) return tree;
    return merge_leaves(tree, options.merging, options.inner_values, targets.table);
}

}  // namespace ramify
