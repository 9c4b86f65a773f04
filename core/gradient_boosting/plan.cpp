#include "gradient_boosting/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradient_boosting/drawing.hpp"

namespace ramify {

namespace {

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

}  // namespace

BoostingPlan::BoostingPlan(BinnedData data, const OutputSets& outputs, RowRoles roles,
                           std::span<const double> output_weight,
                           const GradientBoostingOptions& options)
    : data_(std::move(data)),
      roles_(std::move(roles)),
      options_(options),
      order_(order_outputs(outputs, roles_.learning, output_weight)),
      places_(outputs, order_),
      sketch_(order_, output_weight, options.sketch_size) {
    for (std::size_t f = 0; f < data_.features.size(); ++f) {
        const auto& feature = data_.features[f];
        const bool any_missing =
            feature.n_bins == 1 &&
            std::ranges::any_of(roles_.learning, [&](auto row) { return data_.bin(f, row) == 1; });
        if (feature.n_bins > 1 || any_missing) usable_.push_back(static_cast<std::int32_t>(f));
    }
}

TreeSample BoostingPlan::draw(std::uint64_t round) const {
    const auto seeds = RoundSeeds::of(options_.seed, round);
    TreeSample sample{choose(std::span<const std::uint32_t>(roles_.learning),
                             options_.n_sampled_rows, seeds.rows),
                      choose(std::span<const std::int32_t>(usable_), options_.n_sampled_features,
                             seeds.features),
                      sketch_};
    sample.sketch.draw(seeds.sketch);
    return sample;
}

BoostedTree BoostingPlan::describe(std::span<const GrownNode> nodes,
                                   std::span<const std::int32_t> leaf_of_node,
                                   std::span<const float> values) const {
    BoostedTree out;
    out.category_indptr.push_back(0);
    std::vector<std::pair<std::size_t, std::int32_t*>> stack{{0, nullptr}};
    // Reserved, so that pointers to children stay valid.
    out.yes.reserve(nodes.size());
    out.no.reserve(nodes.size());
    while (!stack.empty()) {
        const auto [number, link] = stack.back();
        stack.pop_back();
        if (link != nullptr) *link = static_cast<std::int32_t>(out.n_nodes());
        const auto& node = nodes[number];
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
            leaf = static_cast<std::int32_t>(out.value.size() / n_outputs());
            const float* value =
                values.data() + static_cast<std::size_t>(leaf_of_node[number]) * stride();
            out.value.resize(out.value.size() + n_outputs());
            float* to = out.value.data() + out.value.size() - n_outputs();
            for (std::size_t k = 0; k < n_outputs(); ++k) {
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

}  // namespace ramify
