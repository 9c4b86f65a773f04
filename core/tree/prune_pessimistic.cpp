#include "tree/prune_pessimistic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "criteria/distance.hpp"
#include "criteria/target_scan.hpp"
#include "data/label_sums.hpp"
#include "growing/scans.hpp"
#include "tree/edited.hpp"
#include "tree/medoid.hpp"

namespace ramify {

namespace {

/// Estimates this close are ties, which the smaller tree wins.
constexpr double slack = 0.1;
/// Weights and estimates this close are equal in CLUS.
constexpr double clus_rounding = 1e-6;
/// CLUS first makes leaves of nodes whose subtree has no fewer errors than this.
constexpr double clus_fewer = 1e-3;

double weight_of(const NodeRows& rows) {
    return std::accumulate(rows.weight.begin(), rows.weight.end(), 0.0);
}

/// The figures stored in a node, and the errors it would make as a leaf.
class Figures {
  public:
    Figures(const Targets& targets, const GrowOptions& options)
        : targets_(targets), options_(options), sums_(targets), medoid_(targets) {
        if (options.criterion == Criterion::distance) scan_.emplace(targets);
        if (targets.table == nullptr) return;
        prototype_.emplace(*targets.table);
        if (options.criterion == Criterion::variance) {
            gini_.emplace(targets);
        } else {
            entropy_.emplace(targets);
        }
    }

    /// Weight of the rows not in the most frequent class; of labels that are not exclusive, the
    /// mean over the labels of the weight of the rows for which the majority is wrong; likewise of
    /// several nominal targets.
    double errors(const NodeRows& rows) {
        if (prototype_) {
            prototype_->compute(rows);
            return prototype_->errors();
        }
        const double weight = weight_of(rows);
        const auto sums = sums_.of(rows);
        if (targets_.n_labels() == 1 || !options_.pessimism.exclusive) {
            double wrong = 0;
            for (const auto& s : sums) wrong += std::min(s.sum, weight - s.sum);
            return wrong / static_cast<double>(targets_.n_labels());
        }
        double most = 0;
        for (const auto& s : sums) most = std::max(most, s.sum);
        return weight - most;
    }
    double pessimistic(const NodeRows& rows) {
        return pessimistic_errors(weight_of(rows), errors(rows), options_.pessimism);
    }
    /// Weight times impurity.
    double mass(const NodeRows& rows) {
        const double weight = weight_of(rows);
        if (weight <= 0) return 0;
        if (gini_) return mass(*gini_, rows) * options_.rules.score_factor;
        if (entropy_) return mass(*entropy_, rows) * options_.rules.score_factor;
        return mass(rows, sums_.of(rows), weight) * options_.rules.score_factor;
    }
    /// Sets everything but the test.
    void describe(const NodeRows& rows, EditedNode& node) {
        node.weight = weight_of(rows);
        node.n_samples = static_cast<std::int64_t>(rows.size());
        node.impurity = mass(rows) / node.weight;
        if (prototype_) {
            replace_values(rows, node);
            return;
        }
        node.value_label.clear();
        node.value.clear();
        const auto sums = sums_.of(rows);
        if (options_.prototype == Prototype::medoid) {
            const auto labels = medoid_.of(rows, sums);
            node.value_label.assign(labels.begin(), labels.end());
            node.value.assign(labels.size(), 1.0);
            return;
        }
        for (const auto& s : sums) {
            if (s.sum <= 0) continue;
            node.value_label.push_back(s.label);
            node.value.push_back(s.sum / node.weight);
        }
    }

  private:
    template <typename AnyScan>
    static double mass(AnyScan& scan, const NodeRows& rows) {
        scan.reset(rows);
        scan.begin({});
        return scan.known_impurity();
    }
    /// Values of targets that no row knows stay as they are.
    void replace_values(const NodeRows& rows, EditedNode& node) {
        const TargetTable& table = *targets_.table;
        prototype_->compute(rows);
        std::vector<std::int32_t> columns;
        std::vector<double> values;
        const auto take = [&](std::span<const std::int32_t> from, std::span<const double> value,
                              std::size_t target) {
            const std::size_t before = columns.size();
            for (std::size_t k = 0; k < from.size(); ++k) {
                if (from[k] < table.first_column[target]) continue;
                if (from[k] >= table.first_column[target + 1]) break;
                columns.push_back(from[k]);
                values.push_back(value[k]);
            }
            return columns.size() > before;
        };
        for (std::size_t i = 0; i < table.n_targets(); ++i) {
            if (!take(prototype_->columns(), prototype_->values(), i)) {
                take(node.value_label, node.value, i);
            }
        }
        node.value_label = std::move(columns);
        node.value = std::move(values);
    }
    double mass(const NodeRows& rows, std::span<const LabelSum> sums, double weight) {
        if (scan_) return mass(*scan_, rows);
        return with_scan(options_.criterion, [&]<typename Scan>(std::type_identity<Scan>) {
            if constexpr (requires { Scan::impurity_of(sums, weight); }) {
                return Scan::impurity_of(sums, weight);
            } else {
                return 0.0;  // a distance, which has `scan_`
            }
        });
    }

    const Targets& targets_;
    const GrowOptions& options_;
    LabelSums sums_;
    Medoid medoid_;
    std::optional<DistanceScan> scan_;
    // Of several nominal targets.
    std::optional<TargetPrototype> prototype_;
    std::optional<TargetScan<NominalStatistic<false>>> gini_;
    std::optional<TargetScan<NominalStatistic<true>>> entropy_;
};

class Pruner {
  public:
    Pruner(const Tree& tree, const Dataset& dataset, const Targets& targets,
           const GrowOptions& options, StopSignal& signal)
        : tree_(tree),
          dataset_(dataset),
          figures_(targets, options),
          clus_(options.rules.clus),
          signal_(signal) {}

    Tree prune(const NodeRows& root);

  private:
    /// An inner node whose branches are being pruned, first to last.
    struct Frame {
        std::int32_t node;
        NodeRows rows;
        Fork fork;
        std::size_t next = 0;  // branch
        double errors = 0;     // expected of the branches before it
    };

    bool settle(Frame& frame, double& errors);
    Fork fork(std::int32_t node, const NodeRows& rows);
    void cut_useless(const NodeRows& root);
    std::size_t largest_branch(const Frame& frame);
    /// Whether a smaller tree with so many expected errors is at least as good as another.
    bool wins(double errors, double others) const {
        return clus_ ? errors - (others + slack) < clus_rounding : errors <= others + slack;
    }
    double expected(std::int32_t node, NodeRows rows);
    void raise(std::int32_t node, std::int32_t below, const NodeRows& rows);
    void describe_all(std::int32_t node, const NodeRows& rows);
    Frame open(std::int32_t node, NodeRows rows);

    EditedTree tree_;
    const Dataset& dataset_;
    Figures figures_;
    bool clus_;
    StopSignal& signal_;
};

/// In CLUS, a test that has been raised divides rows with a missing value as before.
Fork Pruner::fork(std::int32_t node, const NodeRows& rows) {
    Fork found = fork_rows(dataset_, tree_[node], rows);
    if (clus_) found.share = tree_[node].share;
    return found;
}

Pruner::Frame Pruner::open(std::int32_t node, NodeRows rows) {
    Frame frame{node, std::move(rows), {}};
    if (!tree_[node].is_leaf()) frame.fork = fork(node, frame.rows);
    return frame;
}

/// Makes leaves of nodes whose subtree is wrong for as many rows as a leaf, from the top.
void Pruner::cut_useless(const NodeRows& root) {
    struct Visited {
        std::int32_t node;
        std::size_t above;  // place of the parent
        double as_leaf;
        double below = 0;  // errors of the leaves of the subtree
        bool cut = false;  // whether the node or one above became a leaf
    };
    std::vector<Visited> visited;
    std::vector<std::pair<Visited, NodeRows>> waiting;
    waiting.emplace_back(Visited{0, 0, 0}, root);
    while (!waiting.empty()) {
        signal_.check();
        auto [place, rows] = std::move(waiting.back());
        waiting.pop_back();
        place.as_leaf = figures_.errors(rows);
        const auto& node = tree_[place.node];
        if (node.is_leaf()) {
            place.below = place.as_leaf;
        } else {
            const Fork found = fork(place.node, rows);
            for (std::size_t b = node.child.size(); b-- > 0;) {
                waiting.emplace_back(Visited{node.child[b], visited.size(), 0},
                                     found.rows_of(b, rows));
            }
        }
        visited.push_back(place);
    }
    for (std::size_t k = visited.size(); k-- > 1;)
        visited[visited[k].above].below += visited[k].below;
    for (auto& place : visited) {
        place.cut = &place != visited.data() && visited[place.above].cut;
        auto& node = tree_[place.node];
        if (place.cut || node.is_leaf() || place.below < place.as_leaf - clus_fewer) continue;
        node.make_leaf();
        place.cut = true;
    }
}

/// The branch with the most weight; in CLUS, of equal ones the last.
std::size_t Pruner::largest_branch(const Frame& frame) {
    if (!clus_) {
        const auto& share = frame.fork.share;
        return static_cast<std::size_t>(std::ranges::max_element(share) - share.begin());
    }
    std::size_t largest = 0;
    double most = 0;
    const auto& child = tree_[frame.node].child;
    for (std::size_t b = 0; b < child.size(); ++b) {
        const double weight = tree_[child[b]].weight;
        if (most - weight >= clus_rounding) continue;
        most = weight;
        largest = b;
    }
    return largest;
}

/// Depth first without recursion: trees may be deep.
Tree Pruner::prune(const NodeRows& root) {
    if (clus_) cut_useless(root);
    std::vector<Frame> stack;
    stack.push_back(open(0, root));
    while (!stack.empty()) {
        signal_.check();
        Frame& frame = stack.back();
        const auto& node = tree_[frame.node];
        if (frame.next < node.child.size()) {
            const auto branch = frame.next++;
            stack.push_back(open(node.child[branch], frame.fork.rows_of(branch, frame.rows)));
            continue;
        }
        double errors = 0;
        if (!settle(frame, errors)) continue;
        stack.pop_back();
        if (!stack.empty()) stack.back().errors += errors;
    }
    return tree_.packed();
}

/// Decides about a node whose branches have been pruned. Returns false if a branch has replaced
/// the node; that branch must then be pruned with all rows of the node.
bool Pruner::settle(Frame& frame, double& errors) {
    auto& node = tree_[frame.node];
    const double as_leaf = figures_.pessimistic(frame.rows);
    if (node.is_leaf()) {
        errors = as_leaf;
        return true;
    }
    const auto below = node.child[largest_branch(frame)];
    const double raised = expected(below, frame.rows);
    if (wins(as_leaf, frame.errors) && wins(as_leaf, raised)) {
        node.make_leaf();
        errors = as_leaf;
        return true;
    }
    if (wins(raised, frame.errors)) {
        tree_.raise(frame.node, below);
        describe_all(frame.node, frame.rows);
        frame = open(frame.node, std::move(frame.rows));
        return false;
    }
    errors = frame.errors;
    return true;
}

/// The expected errors of a subtree on these rows.
double Pruner::expected(std::int32_t node, NodeRows rows) {
    std::vector<std::pair<std::int32_t, NodeRows>> waiting;
    waiting.emplace_back(node, std::move(rows));
    double errors = 0;
    while (!waiting.empty()) {
        const auto [id, here] = std::move(waiting.back());
        waiting.pop_back();
        const auto& at = tree_[id];
        if (at.is_leaf()) {
            errors += figures_.pessimistic(here);
            continue;
        }
        const Fork found = fork(id, here);
        for (std::size_t b = 0; b < at.child.size(); ++b) {
            waiting.emplace_back(at.child[b], found.rows_of(b, here));
        }
    }
    return errors;
}

/// Recomputes the figures of a subtree from its rows.
void Pruner::describe_all(std::int32_t node, const NodeRows& rows) {
    std::vector<std::pair<std::int32_t, NodeRows>> waiting;
    waiting.emplace_back(node, rows);
    while (!waiting.empty()) {
        const auto [id, here] = std::move(waiting.back());
        waiting.pop_back();
        auto& at = tree_[id];
        figures_.describe(here, at);
        if (at.is_leaf()) continue;
        const Fork found = fork(id, here);
        NodeRows known;
        at.gain = 0;
        for (std::size_t b = 0; b < at.child.size(); ++b) {
            const NodeRows branch = found.known_rows_of(b, here);
            at.gain -= figures_.mass(branch);
            for (std::size_t e = 0; e < branch.size(); ++e) {
                known.push_back(branch.row[e], branch.weight[e], branch.part[e]);
            }
            waiting.emplace_back(at.child[b], found.rows_of(b, here));
        }
        at.gain = std::max(0.0, at.gain + figures_.mass(known));
        if (found.divides) at.share = found.share;
    }
}

}  // namespace

double pessimistic_errors(double weight, double errors, const Pessimism& pessimism) {
    const double n = weight;
    if (n <= 0) return 0;
    const double without = n * (1 - std::pow(pessimism.confidence, 1 / n));
    if (errors < 1e-6) return without;
    if (errors < 1) {
        return without + errors * (pessimistic_errors(n, 1, pessimism) - without);
    }
    if (errors + 0.5 >= n) return std::max(n, errors);
    const double z = pessimism.z;
    const double share = (errors + 0.5) / n;
    const double spread = std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    return n * (share + z * z / (2 * n) + z * spread) / (1 + z * z / n);
}

Tree prune_pessimistic(const Tree& tree, const Dataset& dataset, const Targets& targets,
                       const NodeRows& root, const GrowOptions& options, StopSignal& signal) {
    return Pruner(tree, dataset, targets, options, signal).prune(root);
}

}  // namespace ramify
