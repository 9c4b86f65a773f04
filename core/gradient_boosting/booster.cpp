#include "gradient_boosting/booster.hpp"

#include <algorithm>

#include "gradient_boosting/tasks.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

// Rows of a leaf that one task adds up.
constexpr std::size_t leaf_rows_per_task = 4096;

}  // namespace

GradientBooster::GradientBooster(std::shared_ptr<const BoostingPlan> plan,
                                 std::span<const double> start)
    : shared_plan_(std::move(plan)),
      plan_(*shared_plan_),
      n_outputs_(plan_.n_outputs()),
      stride_(plan_.stride()),
      margins_(plan_.n_rows(), plan_.n_few() > 0 ? 0 : stride_, start, plan_.order(),
               plan_.places(), plan_.options().loss, plan_.options().n_threads),
      sketched_(plan_.n_few() > 0 ? 0 : plan_.n_rows() * plan_.sketch_width()),
      grower_(plan_.data(), plan_.options(), plan_.sketch_width(), plan_.n_few(),
              {plan_.roles().weight, plan_.roles().learning}),
      n_rounds_(plan_.options().first_round) {}

void GradientBooster::sketch_rows(std::span<const std::uint32_t> rows, const Sketch& sketch,
                                  StopSignal& signal) {
    if (plan_.n_few() > 0) {
        margins_.write_records(rows, plan_.roles().weight.data(), sketch.factor(),
                               grower_.records(rows.size()), signal);
        return;
    }
    margins_.visit_gradients(rows, signal,
                             [&](unsigned, std::uint32_t row, const float* gradient) {
                                 sketch.apply(gradient, plan_.roles().weight[row],
                                              sketched_.data() + row * sketch.width());
                             });
}

/// The values of the leaves: one Newton step per output, -G / (H + l2). Large leaves are summed
/// in parts, which are then added in order.
std::vector<float> GradientBooster::find_values(const GrownTree& tree,
                                                std::span<const std::size_t> leaves,
                                                StopSignal& signal) const {
    struct Part {
        std::size_t leaf;
        std::span<const std::uint32_t> rows;
    };
    std::vector<Part> parts;
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        const auto& node = tree.nodes[leaves[leaf]];
        for (auto begin = node.begin; begin < node.end; begin += leaf_rows_per_task) {
            const auto n = std::min(leaf_rows_per_task, node.end - begin);
            parts.push_back({leaf, std::span(tree.rows).subspan(begin, n)});
        }
    }
    const auto n_blocks = (n_outputs_ + outputs_per_task - 1) / outputs_per_task;
    const auto weight_of = [&](std::uint32_t row) { return plan_.roles().weight[row]; };
    std::vector<double> gradients(parts.size() * stride_, 0.0);
    std::vector<double> curvatures(parts.size() * stride_, 0.0);
    parallel_for(margins_.threads_for(tree.rows.size()), parts.size() * n_blocks, signal,
                 [&](unsigned, std::size_t task) {
                     signal.check();
                     const auto part = task / n_blocks;
                     const auto first = task % n_blocks * outputs_per_task;
                     const auto place = part * stride_ + first;
                     if (plan_.n_few() > 0) {
                         margins_.sum_few_gradients(parts[part].rows, plan_.roles().weight.data(),
                                                    &gradients[place], &curvatures[place]);
                         return;
                     }
                     margins_.sum_gradients<float>(
                         parts[part].rows, first, std::min(outputs_per_task, stride_ - first),
                         weight_of, &gradients[place], &curvatures[place]);
                 });
    std::vector<float> values(leaves.size() * stride_, 0.0F);
    for (std::size_t part = 0; part < parts.size();) {
        const auto leaf = parts[part].leaf;
        double* gradient = &gradients[part * stride_];
        double* curvature = &curvatures[part * stride_];
        for (++part; part < parts.size() && parts[part].leaf == leaf; ++part) {
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                gradient[k] += gradients[part * stride_ + k];
                curvature[k] += curvatures[part * stride_ + k];
            }
        }
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double step =
                -gradient[k] / std::max(curvature[k] + plan_.options().l2_regularization, 1e-12);
            values[leaf * stride_ + k] = static_cast<float>(plan_.options().learning_rate * step);
        }
    }
    return values;
}

std::int32_t GradientBooster::find_leaf(const GrownTree& tree,
                                        std::span<const std::int32_t> leaf_of_node,
                                        std::size_t row) const {
    std::size_t node = 0;
    while (!tree.nodes[node].is_leaf()) {
        const auto& split = tree.nodes[node].split;
        const auto bin = plan_.data().bin(static_cast<std::size_t>(split.feature), row);
        node = static_cast<std::size_t>(split.yes.has(bin) ? tree.nodes[node].yes
                                                           : tree.nodes[node].no);
    }
    return leaf_of_node[node];
}

/// The leaves of the rows that the tree was grown from are known.
void GradientBooster::update_margins(const GrownTree& tree,
                                     std::span<const std::int32_t> leaf_of_node,
                                     std::span<const float> values, StopSignal& signal) {
    std::vector<std::int32_t> leaf_of_row(plan_.n_rows(), -1);
    const auto n_threads = margins_.threads_for(plan_.n_rows());
    parallel_for(n_threads, tree.nodes.size(), signal, [&](unsigned, std::size_t node) {
        if (leaf_of_node[node] < 0) return;
        for (auto i = tree.nodes[node].begin; i < tree.nodes[node].end; ++i) {
            leaf_of_row[tree.rows[i]] = leaf_of_node[node];
        }
    });
    margins_.add_leaves(values, signal, [&](std::size_t row) {
        const auto known = leaf_of_row[row];
        return static_cast<std::size_t>(known >= 0 ? known : find_leaf(tree, leaf_of_node, row));
    });
}

BoostedTree GradientBooster::learn(StopSignal& signal) {
    auto sample = plan_.draw(n_rounds_);
    sketch_rows(sample.rows, sample.sketch, signal);
    const auto tree =
        grower_.grow(sample.features, std::move(sample.rows), sketched_.data(), signal);
    std::vector<std::size_t> leaves;
    std::vector<std::int32_t> leaf_of_node(tree.nodes.size(), -1);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
        if (!tree.nodes[node].is_leaf()) continue;
        leaf_of_node[node] = static_cast<std::int32_t>(leaves.size());
        leaves.push_back(node);
    }
    const auto values = find_values(tree, leaves, signal);
    auto described = plan_.describe(tree.nodes, leaf_of_node, values);
    update_margins(tree, leaf_of_node, values, signal);
    ++n_rounds_;
    return described;
}

double GradientBooster::loss(bool held_out, StopSignal& signal) const {
    const auto& rows = held_out ? plan_.roles().held_out : plan_.roles().learning;
    const auto losses = margins_.losses(rows, signal);
    double sum = 0;
    double weight = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row_weight = static_cast<double>(plan_.roles().weight[rows[i]]);
        sum += row_weight * losses[i];
        weight += row_weight;
    }
    return weight > 0 ? sum / weight : 0;
}

void GradientBooster::copy_margins(std::span<const std::uint32_t> rows,
                                   std::span<float> out) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            out[i * n_outputs_ + static_cast<std::size_t>(plan_.order()[k])] =
                margins_.of(rows[i])[k];
        }
    }
}

void GradientBooster::add_margins(std::span<const float> given) {
    for (std::size_t row = 0; row < plan_.n_rows(); ++row) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            margins_.of(row)[k] +=
                given[row * n_outputs_ + static_cast<std::size_t>(plan_.order()[k])];
        }
    }
}

void GradientBooster::hide(std::span<const std::uint32_t> pattern_of_row,
                           SparseRowsView patterns) {
    std::vector<std::size_t> place(n_outputs_);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        place[static_cast<std::size_t>(plan_.order()[k])] = k;
    }
    for (std::size_t row = 0; row < pattern_of_row.size(); ++row) {
        for (const auto output : patterns.row(pattern_of_row[row])) {
            margins_.of(row)[place[static_cast<std::size_t>(output)]] = no_margin;
        }
    }
}

}  // namespace ramify
