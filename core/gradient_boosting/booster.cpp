#include "gradient_boosting/booster.hpp"

#include <algorithm>

#include "gradient_boosting/tasks.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

// Rows of a leaf that one task adds up.
constexpr std::size_t leaf_rows_per_task = 4096;
// Cells below which threads are not worth starting to write them.
constexpr std::size_t min_written_cells = 4'000'000;

}  // namespace

GradientBooster::GradientBooster(std::shared_ptr<const BoostingPlan> plan,
                                 std::span<const double> start)
    : shared_plan_(std::move(plan)),
      plan_(*shared_plan_),
      n_outputs_(plan_.n_outputs()),
      stride_(plan_.stride()),
      sketched_(plan_.n_rows() * plan_.sketch_width()),
      grower_(plan_.data(), plan_.options(), plan_.sketch_width()),
      n_rounds_(plan_.options().first_round) {
    start_margins(start);
    if (plan_.options().loss == Loss::softmax) normaliser_.resize(plan_.n_rows());
}

void GradientBooster::start_margins(std::span<const double> start) {
    std::vector<float> first(stride_, no_margin);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        first[k] = static_cast<float>(start[static_cast<std::size_t>(plan_.order()[k])]);
    }
    margins_ = std::make_unique_for_overwrite<float[]>(plan_.n_rows() * stride_);
    constexpr std::size_t at_once = 1024;
    const auto n_threads =
        plan_.n_rows() * stride_ < min_written_cells ? 1U : plan_.options().n_threads;
    StopSignal signal({});
    parallel_for(n_threads, (plan_.n_rows() + at_once - 1) / at_once, signal,
                 [&](unsigned, std::size_t task) {
                     const auto last = std::min((task + 1) * at_once, plan_.n_rows());
                     for (auto row = task * at_once; row < last; ++row) {
                         std::ranges::copy(first, margins(row));
                     }
                 });
}

void GradientBooster::sketch_rows(std::span<const std::uint32_t> rows, const Sketch& sketch,
                                  StopSignal& signal) {
    const auto n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    const auto n_threads =
        rows.size() * stride_ < min_shared_cells ? 1U : plan_.options().n_threads;
    std::vector<std::vector<float>> gradients(n_threads, std::vector<float>(stride_));
    parallel_for(n_threads, n_tasks, signal, [&](unsigned thread, std::size_t task) {
        signal.check();
        float* gradient = gradients[thread].data();
        const auto last = std::min((task + 1) * rows_per_task, rows.size());
        for (auto i = task * rows_per_task; i < last; ++i) {
            const auto row = rows[i];
            Normaliser normaliser;
            if (plan_.options().loss == Loss::softmax) {
                normaliser = normaliser_[row] = normaliser_of(margins(row), stride_);
            }
            fill_probabilities(plan_.options().loss, margins(row), normaliser, stride_, gradient);
            for (const auto k : plan_.places_of(row)) gradient[k] -= 1.0F;
            sketch.apply(gradient, plan_.roles().weight[row],
                         sketched_.data() + row * sketch.width());
        }
    });
}

/// Adds up the gradients and curvatures of some rows and outputs.
void GradientBooster::sum_gradients(std::span<const std::uint32_t> rows, std::size_t first,
                                    std::size_t n, double* gradients, double* curvatures) const {
    // Sums of a few rows in single precision, all others in double precision.
    constexpr std::size_t part = 64;
    float gradient[outputs_per_task];
    float curvature[outputs_per_task];
    for (std::size_t begin = 0; begin < rows.size(); begin += part) {
        std::fill_n(gradient, n, 0.0F);
        std::fill_n(curvature, n, 0.0F);
        for (const auto row : rows.subspan(begin, std::min(part, rows.size() - begin))) {
            const auto normaliser =
                plan_.options().loss == Loss::softmax ? normaliser_[row] : Normaliser{};
            add_gradients(plan_.options().loss, margins(row) + first, normaliser,
                          plan_.roles().weight[row], n, gradient, curvature);
            for (const auto k : plan_.places_of(row)) {
                const auto place = static_cast<std::size_t>(k) - first;  // wraps around
                if (place < n) gradient[place] -= plan_.roles().weight[row];
            }
        }
        for (std::size_t k = 0; k < n; ++k) {
            gradients[k] += static_cast<double>(gradient[k]);
            curvatures[k] += static_cast<double>(curvature[k]);
        }
    }
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
    const auto n_blocks = (stride_ + outputs_per_task - 1) / outputs_per_task;
    const auto n_threads =
        tree.rows.size() * stride_ < min_shared_cells ? 1U : plan_.options().n_threads;
    std::vector<double> gradients(parts.size() * stride_, 0.0);
    std::vector<double> curvatures(parts.size() * stride_, 0.0);
    parallel_for(n_threads, parts.size() * n_blocks, signal, [&](unsigned, std::size_t task) {
        signal.check();
        const auto part = task / n_blocks;
        const auto first = task % n_blocks * outputs_per_task;
        const auto place = part * stride_ + first;
        sum_gradients(parts[part].rows, first, std::min(outputs_per_task, stride_ - first),
                      &gradients[place], &curvatures[place]);
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

void GradientBooster::update_margins(const GrownTree& tree,
                                     std::span<const std::int32_t> leaf_of_node,
                                     std::span<const float> values, StopSignal& signal) {
    const auto n_rows = plan_.n_rows();
    const auto n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
    const auto n_threads = n_rows * stride_ < min_shared_cells ? 1U : plan_.options().n_threads;
    parallel_for(n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        const auto last = std::min((task + 1) * rows_per_task, n_rows);
        for (auto row = task * rows_per_task; row < last; ++row) {
            std::size_t node = 0;
            while (!tree.nodes[node].is_leaf()) {
                const auto& split = tree.nodes[node].split;
                const auto bin = plan_.data().bin(static_cast<std::size_t>(split.feature), row);
                node = static_cast<std::size_t>(split.yes.has(bin) ? tree.nodes[node].yes
                                                                   : tree.nodes[node].no);
            }
            const auto leaf = static_cast<std::size_t>(leaf_of_node[node]);
            add_floats(margins(row), values.data() + leaf * stride_, stride_);
        }
    });
}

BoostedTree GradientBooster::learn(StopSignal& signal) {
    auto sample = plan_.draw(n_rounds_);
    sketch_rows(sample.rows, sample.sketch, signal);
    const auto tree = grower_.grow(sample.features, std::move(sample.rows), sketched_.data(),
                                   plan_.roles().weight.data(), signal);
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
    std::vector<double> losses(rows.size());
    const auto n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    parallel_for(plan_.options().n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        signal.check();
        const auto last = std::min((task + 1) * rows_per_task, rows.size());
        for (auto i = task * rows_per_task; i < last; ++i) {
            losses[i] = row_loss(plan_.options().loss, margins(rows[i]), n_outputs_,
                                 plan_.places_of(rows[i]));
        }
    });
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
            out[i * n_outputs_ + static_cast<std::size_t>(plan_.order()[k])] = margins(rows[i])[k];
        }
    }
}

void GradientBooster::add_margins(std::span<const float> given) {
    for (std::size_t row = 0; row < plan_.n_rows(); ++row) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            margins(row)[k] +=
                given[row * n_outputs_ + static_cast<std::size_t>(plan_.order()[k])];
        }
    }
}

}  // namespace ramify
