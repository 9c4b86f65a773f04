#include "gradient_boosting/shard.hpp"

#include <algorithm>
#include <cmath>

#include "common/simd.hpp"
#include "gradient_boosting/tasks.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

/// Rounds factor * from to whole numbers; those that do not fit become the largest.
RAMIFY_ANY_WIDTH
void round_floats(const float* __restrict from, float factor, std::size_t n,
                  std::int32_t* __restrict to) {
    constexpr float most = 2147483392.0F;  // the largest float below 2^31 that leaves room for 0.5
    for (std::size_t j = 0; j < n; ++j) {
        float x = from[j] * factor;
        x = x < -most ? -most : x;
        x = x > most ? most : x;
        to[j] = static_cast<std::int32_t>(x + (x < 0 ? -0.5F : 0.5F));
    }
}

/// sums[target[i]] += table[row[i]] for all i; vectors of sums are `stride` numbers apart.
RAMIFY_ANY_WIDTH
void add_whole_vectors(const std::int32_t* __restrict table, const std::uint32_t* __restrict row,
                       const std::uint32_t* __restrict target, std::size_t n, std::size_t width,
                       std::size_t stride, std::int64_t* __restrict sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t* from = table + row[i] * width;
        std::int64_t* to = sums + target[i] * stride;
        for (std::size_t j = 0; j < width; ++j) to[j] += from[j];
    }
}

}  // namespace

BoosterShard::BoosterShard(BinnedData data, const OutputSets& outputs, std::vector<float> weight,
                           std::vector<std::uint8_t> held_out, std::uint64_t first_row,
                           ShardPlan plan)
    : data_(std::move(data)),
      plan_(std::move(plan)),
      weight_(std::move(weight)),
      held_out_(std::move(held_out)),
      first_row_(first_row),
      n_outputs_(outputs.n_outputs),
      places_(outputs, plan_.order),
      sketch_(plan_.order, plan_.output_weight, plan_.options.sketch_size),
      stride_(sketch_.n_padded()),
      margins_(data_.n_rows, stride_, plan_.start, plan_.order, places_, plan_.options.loss,
               plan_.options.n_threads),
      sketched_(data_.n_rows * width()) {
    whole_weight_.reserve(data_.n_rows);
    for (const float w : weight_) {
        whole_weight_.push_back(
            std::llround(std::ldexp(static_cast<double>(w), plan_.fixed.weight_bits)));
    }
}

std::span<const std::uint32_t> BoosterShard::rows_of(std::size_t node) const {
    const auto& range = nodes_[node];
    return std::span(rows_).subspan(range.begin, range.end - range.begin);
}

void BoosterShard::start_tree(std::uint64_t round, StopSignal& signal) {
    const auto seeds = RoundSeeds::of(plan_.options.seed, round);
    sketch_.draw(seeds.sketch);
    const RowDraw draw(seeds.rows, plan_.sampled_share);
    rows_.clear();
    for (std::size_t row = 0; row < data_.n_rows; ++row) {
        if (held_out_[row] == 0 && draw.has(first_row_ + row)) {
            rows_.push_back(static_cast<std::uint32_t>(row));
        }
    }
    nodes_.assign(1, {0, rows_.size()});
    const float factor = std::ldexp(1.0F, plan_.fixed.sketch_bits);
    std::vector<std::vector<float>> summaries(margins_.threads_for(rows_.size()),
                                              std::vector<float>(width()));
    margins_.visit_gradients(
        rows_, signal, [&](unsigned thread, std::uint32_t row, const float* gradient) {
            float* summary = summaries[thread].data();
            sketch_.apply(gradient, weight_[row], summary);
            round_floats(summary, factor, width(), sketched_.data() + row * width());
        });
}

void BoosterShard::divide(const NodeDivision& division) {
    const auto range = nodes_[division.node];
    const auto& bins = data_.features[static_cast<std::size_t>(division.split.feature)].bins;
    buffer_.clear();
    auto next = range.begin;
    for (auto i = range.begin; i < range.end; ++i) {
        const auto row = rows_[i];
        if (division.split.yes.has(bins[row])) {
            rows_[next++] = row;
        } else {
            buffer_.push_back(row);
        }
    }
    std::ranges::copy(buffer_, rows_.begin() + static_cast<std::ptrdiff_t>(next));
    nodes_.resize(std::max(nodes_.size(), division.yes + 2), {0, 0});
    nodes_[division.yes] = {range.begin, next};
    nodes_[division.yes + 1] = {next, range.end};
}

void BoosterShard::add_histograms(std::size_t node, std::span<const std::int32_t> features,
                                  std::span<std::int64_t> out, StopSignal& signal) const {
    const auto rows = rows_of(node);
    const auto stride = numbers_per_bin(width());
    std::vector<std::size_t> first_bin{0};
    for (const auto f : features) {
        const auto& feature = data_.features[static_cast<std::size_t>(f)];
        first_bin.push_back(first_bin.back() + feature.n_bins + 1U);
    }
    const auto n_threads =
        rows.size() * width() * features.size() < min_shared_cells ? 1U : plan_.options.n_threads;
    parallel_for(n_threads, features.size(), signal, [&](unsigned, std::size_t i) {
        signal.check();
        const auto& bins = data_.features[static_cast<std::size_t>(features[i])].bins;
        std::int64_t* sums = out.data() + first_bin[i] * stride;
        constexpr std::size_t at_once = 512;
        std::uint32_t target[at_once];
        for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
            const auto n = std::min(at_once, rows.size() - begin);
            for (std::size_t k = 0; k < n; ++k) {
                const auto row = rows[begin + k];
                target[k] = bins[row];
                std::int64_t* counts = sums + bins[row] * stride + width();
                ++counts[0];
                counts[1] += whole_weight_[row];
            }
            add_whole_vectors(sketched_.data(), rows.data() + begin, target, n, width(), stride,
                              sums);
        }
    });
}

void BoosterShard::add_leaf_sums(std::size_t node, std::span<std::int64_t> out,
                                 StopSignal& signal) const {
    const auto rows = rows_of(node);
    std::int64_t* gradients = out.data();
    std::int64_t* curvatures = out.data() + n_outputs_ + 1;
    gradients[n_outputs_] += static_cast<std::int64_t>(rows.size());
    for (const auto row : rows) curvatures[n_outputs_] += whole_weight_[row];
    const auto n_tasks = (n_outputs_ + outputs_per_task - 1) / outputs_per_task;
    const auto weight_of = [&](std::uint32_t row) {
        return std::ldexp(weight_[row], plan_.fixed.leaf_bits);
    };
    parallel_for(
        margins_.threads_for(rows.size()), n_tasks, signal, [&](unsigned, std::size_t task) {
            signal.check();
            const auto first = task * outputs_per_task;
            margins_.sum_gradients<std::int32_t>(rows, first,
                                                 std::min(outputs_per_task, stride_ - first),
                                                 weight_of, gradients + first, curvatures + first);
        });
}

void BoosterShard::add_tree(const BinnedTree& tree, StopSignal& signal) {
    const auto n_leaves = tree.value.size() / n_outputs_;
    std::vector<float> values(n_leaves * stride_, 0.0F);
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        std::copy_n(tree.value.data() + leaf * n_outputs_, n_outputs_,
                    values.data() + leaf * stride_);
    }
    margins_.add_leaves(values, signal, [&](std::size_t row) {
        std::size_t node = 0;
        while (tree.split[node].feature >= 0) {
            const auto& split = tree.split[node];
            const auto bin = data_.features[static_cast<std::size_t>(split.feature)].bins[row];
            node = static_cast<std::size_t>(tree.yes[node]) + (split.yes.has(bin) ? 0 : 1);
        }
        return static_cast<std::size_t>(tree.leaf[node]);
    });
}

std::array<std::int64_t, 3> BoosterShard::loss(bool held_out, StopSignal& signal) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < data_.n_rows; ++row) {
        if ((held_out_[row] != 0) == held_out) rows.push_back(row);
    }
    const auto losses = margins_.losses(rows, signal);
    std::array<std::int64_t, 3> sums{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double loss = static_cast<double>(weight_[rows[i]]) * losses[i];
        const double whole = std::floor(loss);
        sums[0] += static_cast<std::int64_t>(whole);
        sums[1] += std::llround((loss - whole) * 0x1.0p30);
        sums[2] += whole_weight_[rows[i]];
    }
    return sums;
}

}  // namespace ramify
