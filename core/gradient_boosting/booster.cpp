#include "gradient_boosting/booster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/random.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

// Rows or cells that one task processes.
constexpr std::size_t rows_per_task = 64;
constexpr std::size_t outputs_per_task = 512;
// Cells below which threads are not worth starting.
constexpr std::size_t min_shared_cells = 50'000;

/// Outputs by decreasing sum of squared gradients before the first round, w n p (1 - p).
std::vector<std::int32_t> order_outputs(const OutputSets& outputs,
                                        std::span<const std::uint32_t> rows,
                                        std::span<const double> weight) {
    std::vector<double> counts(outputs.n_outputs, 0);
    for (const auto row : rows) {
        for (auto k = outputs.indptr[row]; k < outputs.indptr[row + 1]; ++k) {
            ++counts[static_cast<std::size_t>(outputs.indices[static_cast<std::size_t>(k)])];
        }
    }
    const auto n = static_cast<double>(rows.size());
    std::vector<std::int32_t> order(outputs.n_outputs);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](std::int32_t j) {
        const auto count = counts[static_cast<std::size_t>(j)];
        return weight[static_cast<std::size_t>(j)] * count * (n - count);
    });
    return order;
}

std::vector<float> scales(std::span<const std::int32_t> order, std::span<const double> weight) {
    std::vector<float> scale;
    scale.reserve(order.size());
    for (const auto j : order) {
        scale.push_back(static_cast<float>(std::sqrt(weight[static_cast<std::size_t>(j)])));
    }
    return scale;
}

/// `n` of the numbers below `size`, increasing (Floyd's method would need a set; sizes are small).
template <typename T>
std::vector<T> choose(std::span<const T> from, std::size_t n, std::uint64_t seed) {
    std::vector<T> chosen(from.begin(), from.end());
    if (n == 0 || n >= chosen.size()) return chosen;
    SplitMix random(seed);
    for (std::size_t i = 0; i < n; ++i) {
        const auto left = static_cast<std::uint32_t>(chosen.size() - i);
        std::swap(chosen[i], chosen[i + random.below(left)]);
    }
    chosen.resize(n);
    std::ranges::sort(chosen);
    return chosen;
}

}  // namespace

GradientBooster::GradientBooster(BinnedData data, const OutputSets& outputs, RowRoles roles,
                                 std::span<const double> start,
                                 std::span<const double> output_weight,
                                 const GradientBoostingOptions& options)
    : data_(std::move(data)),
      roles_(std::move(roles)),
      options_(options),
      n_outputs_(outputs.n_outputs),
      order_(order_outputs(outputs, roles_.learning, output_weight)),
      indptr_(outputs.indptr.begin(), outputs.indptr.end()),
      indices_(outputs.indices.begin(), outputs.indices.end()),
      sketch_(scales(order_, output_weight), options.sketch_size),
      grower_(data_, options_, sketch_.width()),
      n_rounds_(options.first_round) {
    stride_ = sketch_.n_padded();
    std::vector<std::int32_t> place(n_outputs_);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        place[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
    }
    for (auto& j : indices_) j = place[static_cast<std::size_t>(j)];
    for (std::size_t f = 0; f < data_.features.size(); ++f) {
        const auto& feature = data_.features[f];
        const bool any_missing =
            feature.n_bins == 1 &&
            std::ranges::any_of(roles_.learning, [&](auto row) { return data_.bin(f, row) == 1; });
        if (feature.n_bins > 1 || any_missing) usable_.push_back(static_cast<std::int32_t>(f));
    }
    margins_.assign(data_.n_rows * stride_, no_margin);
    for (std::size_t row = 0; row < data_.n_rows; ++row) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            margins(row)[k] = static_cast<float>(start[static_cast<std::size_t>(order_[k])]);
        }
    }
    sketched_.resize(data_.n_rows * sketch_.width());
    if (options_.loss == Loss::softmax) normaliser_.resize(data_.n_rows);
}

std::span<const std::int32_t> GradientBooster::outputs_of(std::size_t row) const {
    const auto begin = static_cast<std::size_t>(indptr_[row]);
    return std::span(indices_).subspan(begin, static_cast<std::size_t>(indptr_[row + 1]) - begin);
}

std::vector<std::uint32_t> GradientBooster::draw_rows(std::uint64_t seed) const {
    return choose(std::span(roles_.learning), options_.n_sampled_rows, seed);
}

std::vector<std::int32_t> GradientBooster::draw_features(std::uint64_t seed) const {
    return choose(std::span(usable_), options_.n_sampled_features, seed);
}

void GradientBooster::sketch_rows(std::span<const std::uint32_t> rows, StopSignal& signal) {
    const auto n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    const auto n_threads = rows.size() * stride_ < min_shared_cells ? 1U : options_.n_threads;
    std::vector<std::vector<float>> gradients(n_threads, std::vector<float>(stride_));
    parallel_for(n_threads, n_tasks, signal, [&](unsigned thread, std::size_t task) {
        signal.check();
        float* gradient = gradients[thread].data();
        const auto last = std::min((task + 1) * rows_per_task, rows.size());
        for (auto i = task * rows_per_task; i < last; ++i) {
            const auto row = rows[i];
            Normaliser normaliser;
            if (options_.loss == Loss::softmax) {
                normaliser = normaliser_[row] = normaliser_of(margins(row), stride_);
            }
            fill_probabilities(options_.loss, margins(row), normaliser, stride_, gradient);
            for (const auto k : outputs_of(row)) gradient[k] -= 1.0F;
            sketch_.apply(gradient, roles_.weight[row], sketched_.data() + row * sketch_.width());
        }
    });
}

/// The values of the leaves: one Newton step per output, -G / (H + l2).
std::vector<float> GradientBooster::find_values(const GrownTree& tree,
                                                std::span<const std::size_t> leaves,
                                                StopSignal& signal) const {
    const auto n_blocks = (stride_ + outputs_per_task - 1) / outputs_per_task;
    std::vector<float> values(leaves.size() * stride_, 0.0F);
    const auto n_threads = tree.rows.size() * stride_ < min_shared_cells ? 1U : options_.n_threads;
    parallel_for(n_threads, leaves.size() * n_blocks, signal, [&](unsigned, std::size_t task) {
        signal.check();
        const auto leaf = task / n_blocks;
        const auto first = task % n_blocks * outputs_per_task;
        const auto n = std::min(outputs_per_task, stride_ - first);
        const auto& node = tree.nodes[leaves[leaf]];
        // Sums of a few rows in single precision, all others in double precision.
        constexpr std::size_t part = 64;
        float gradient[outputs_per_task];
        float curvature[outputs_per_task];
        double gradients[outputs_per_task] = {};
        double curvatures[outputs_per_task] = {};
        for (auto begin = node.begin; begin < node.end; begin += part) {
            std::fill_n(gradient, n, 0.0F);
            std::fill_n(curvature, n, 0.0F);
            for (auto i = begin; i < std::min(begin + part, node.end); ++i) {
                const auto row = tree.rows[i];
                const auto normaliser =
                    options_.loss == Loss::softmax ? normaliser_[row] : Normaliser{};
                add_gradients(options_.loss, margins(row) + first, normaliser, roles_.weight[row],
                              n, gradient, curvature);
                for (const auto k : outputs_of(row)) {
                    const auto place = static_cast<std::size_t>(k) - first;  // wraps around
                    if (place < n) gradient[place] -= roles_.weight[row];
                }
            }
            for (std::size_t k = 0; k < n; ++k) {
                gradients[k] += static_cast<double>(gradient[k]);
                curvatures[k] += static_cast<double>(curvature[k]);
            }
        }
        float* value = values.data() + leaf * stride_ + first;
        for (std::size_t k = 0; k < n; ++k) {
            const double step =
                -gradients[k] / std::max(curvatures[k] + options_.l2_regularization, 1e-12);
            value[k] =
                first + k < n_outputs_ ? static_cast<float>(options_.learning_rate * step) : 0.0F;
        }
    });
    return values;
}

void GradientBooster::update_margins(const GrownTree& tree,
                                     std::span<const std::int32_t> leaf_of_node,
                                     std::span<const float> values, StopSignal& signal) {
    const auto n_rows = data_.n_rows;
    const auto n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
    const auto n_threads = n_rows * stride_ < min_shared_cells ? 1U : options_.n_threads;
    parallel_for(n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        const auto last = std::min((task + 1) * rows_per_task, n_rows);
        for (auto row = task * rows_per_task; row < last; ++row) {
            std::size_t node = 0;
            while (!tree.nodes[node].is_leaf()) {
                const auto& split = tree.nodes[node].split;
                const auto bin = data_.bin(static_cast<std::size_t>(split.feature), row);
                node = static_cast<std::size_t>(split.yes.has(bin) ? tree.nodes[node].yes
                                                                   : tree.nodes[node].no);
            }
            const auto leaf = static_cast<std::size_t>(leaf_of_node[node]);
            add_floats(margins(row), values.data() + leaf * stride_, stride_);
        }
    });
}

BoostedTree GradientBooster::describe(const GrownTree& tree,
                                      std::span<const std::int32_t> leaf_of_node,
                                      std::span<const float> values) const {
    BoostedTree out;
    out.category_indptr.push_back(0);
    std::vector<std::pair<std::size_t, std::int32_t*>> stack{{0, nullptr}};
    // Reserved, so that pointers to children stay valid.
    out.yes.reserve(tree.nodes.size());
    out.no.reserve(tree.nodes.size());
    while (!stack.empty()) {
        const auto [number, link] = stack.back();
        stack.pop_back();
        if (link != nullptr) *link = static_cast<std::int32_t>(out.n_nodes());
        const auto& node = tree.nodes[number];
        const bool is_leaf = node.is_leaf();
        out.feature.push_back(is_leaf ? -1 : node.split.feature);
        out.yes.push_back(-1);
        out.no.push_back(-1);
        out.gain.push_back(is_leaf ? 0.0 : node.split.gain);
        out.weight.push_back(node.weight);
        double threshold = 0;
        std::uint8_t missing_yes = 0;
        std::int32_t leaf = -1;
        if (is_leaf) {
            leaf = static_cast<std::int32_t>(out.value.size() / n_outputs_);
            const float* value =
                values.data() + static_cast<std::size_t>(leaf_of_node[number]) * stride_;
            out.value.resize(out.value.size() + n_outputs_);
            float* to = out.value.data() + out.value.size() - n_outputs_;
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                to[static_cast<std::size_t>(order_[k])] = value[k];
            }
        } else {
            const auto& feature = data_.features[static_cast<std::size_t>(node.split.feature)];
            missing_yes = node.split.yes.has(feature.n_bins) ? 1 : 0;
            if (feature.nominal) {
                for (const auto bin : feature.bin_of_code) {
                    out.category_yes.push_back(node.split.yes.has(bin) ? 1 : 0);
                }
            } else if (node.split.cut < feature.threshold.size()) {
                threshold = feature.threshold[node.split.cut];
            } else {
                threshold = -std::numeric_limits<double>::infinity();  // all values, not missing
            }
            stack.emplace_back(static_cast<std::size_t>(node.no), &out.no.back());
            stack.emplace_back(static_cast<std::size_t>(node.yes), &out.yes.back());
        }
        out.threshold.push_back(threshold);
        out.missing_yes.push_back(missing_yes);
        out.category_indptr.push_back(static_cast<std::int64_t>(out.category_yes.size()));
        out.leaf.push_back(leaf);
    }
    return out;
}

BoostedTree GradientBooster::learn(StopSignal& signal) {
    // Seeds that differ for every round and purpose.
    const auto seed = mix(options_.seed) + 4 * n_rounds_;
    sketch_.draw(mix(seed));
    auto rows = draw_rows(mix(seed + 1));
    const auto features = draw_features(mix(seed + 2));
    sketch_rows(rows, signal);
    const auto tree =
        grower_.grow(features, std::move(rows), sketched_.data(), roles_.weight.data(), signal);
    std::vector<std::size_t> leaves;
    std::vector<std::int32_t> leaf_of_node(tree.nodes.size(), -1);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
        if (!tree.nodes[node].is_leaf()) continue;
        leaf_of_node[node] = static_cast<std::int32_t>(leaves.size());
        leaves.push_back(node);
    }
    const auto values = find_values(tree, leaves, signal);
    auto described = describe(tree, leaf_of_node, values);
    update_margins(tree, leaf_of_node, values, signal);
    ++n_rounds_;
    return described;
}

double GradientBooster::loss(bool held_out, StopSignal& signal) const {
    const auto& rows = held_out ? roles_.held_out : roles_.learning;
    std::vector<double> losses(rows.size());
    const auto n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    parallel_for(options_.n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        signal.check();
        const auto last = std::min((task + 1) * rows_per_task, rows.size());
        for (auto i = task * rows_per_task; i < last; ++i) {
            losses[i] = row_loss(options_.loss, margins(rows[i]), n_outputs_, outputs_of(rows[i]));
        }
    });
    double sum = 0;
    double weight = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row_weight = static_cast<double>(roles_.weight[rows[i]]);
        sum += row_weight * losses[i];
        weight += row_weight;
    }
    return weight > 0 ? sum / weight : 0;
}

void GradientBooster::copy_margins(std::span<const std::uint32_t> rows,
                                   std::span<float> out) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            out[i * n_outputs_ + static_cast<std::size_t>(order_[k])] = margins(rows[i])[k];
        }
    }
}

void GradientBooster::add_margins(std::span<const float> given) {
    for (std::size_t row = 0; row < data_.n_rows; ++row) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            margins(row)[k] += given[row * n_outputs_ + static_cast<std::size_t>(order_[k])];
        }
    }
}

}  // namespace ramify
