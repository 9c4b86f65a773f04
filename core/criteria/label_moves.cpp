#include "criteria/label_moves.hpp"

#include <algorithm>

#include "common/simd.hpp"

namespace ramify {

namespace {

/// Blocks written per entry whether it has them or not; few entries have more.
constexpr std::uint32_t usual_blocks = 8;
/// How many blocks ahead the labels of a block are prefetched.
constexpr std::size_t blocks_ahead = 16;

}  // namespace

void LabelMoves::reset(const NodeLabels& labels, std::span<const double> weights) {
    labels_ = &labels;
    weights_ = weights;
    prepared_ = false;
}

/// Called by the first feature that moves an entry: a node may have none.
void LabelMoves::prepare() {
    constexpr auto block = static_cast<std::uint32_t>(NodeLabels::block);
    const NodeLabels& labels = *labels_;
    const auto weights = weights_;
    prepared_ = true;
    unit_ = std::ranges::all_of(weights, [](double v) { return v == 1; });
    labels.list_weights(label_weight_);
    left_.assign(label_weight_.size(), 0.0);
    const std::size_t n = labels.n_entries();
    parts_.make_room(n);
    end_.make_room(n);
    const std::size_t room = labels.n_ids() / block + usual_blocks + blocks_ahead;
    block_.make_room(room);
    block_weight_.make_room(room);
    sum_.make_room(room);
    missing_sum_.make_room(room);
    for (std::size_t e = 0; e < n; ++e) {
        const double v = weights[e];
        const auto first = labels.indptr[e] / block;
        const auto end = labels.indptr[e + 1] / block;
        parts_[e] = {v, v * v * labels.own[e], v * labels.cross[e], first, end - first};
        for (auto b = first; b < end && !unit_; ++b) block_weight_[b] = v;
    }
}

void LabelMoves::begin(const double* missing) {
    missing_ = missing;
    if (prepared_) std::ranges::fill(left_, 0.0);
}

void LabelMoves::list(std::span<const RankedEntry> items, double* weight, double* square,
                      double* cross) {
    if (!prepared_) prepare();
    std::uint32_t n_blocks = 0;
    double weight_sum = 0;
    double square_sum = 0;
    double cross_sum = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
        const Part part = parts_[items[k].entry];
        std::uint32_t* __restrict at = block_.data() + n_blocks;
        for (std::uint32_t b = 0; b < usual_blocks; ++b) at[b] = part.first + b;
        for (auto b = usual_blocks; b < part.n_blocks; ++b) at[b] = part.first + b;
        n_blocks += part.n_blocks;
        end_[k] = n_blocks;
        weight_sum += part.weight;
        square_sum += part.square;
        cross_sum += part.cross;
        weight[k] = weight_sum;
        square[k] = square_sum;
        cross[k] = cross_sum;
    }
    // Prefetching reads past the last block.
    std::fill_n(block_.data() + n_blocks, blocks_ahead, 0u);
}

template <bool unit, bool any_missing>
void LabelMoves::move_blocks(std::size_t n_blocks) {
    const std::uint32_t* ids = labels_->ids.data();
    const double* label_weight = label_weight_.data();
    const double* missing = missing_;
    double* __restrict left = left_.data();
    double sum = 0;
    double missing_sum = 0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        prefetch(ids + NodeLabels::block * block_[b + blocks_ahead]);
        const std::uint32_t* id = ids + NodeLabels::block * block_[b];
        const double v = unit ? 1 : block_weight_[block_[b]];
        double so_far[NodeLabels::block];
        for (std::size_t t = 0; t < NodeLabels::block; ++t) {
            so_far[t] = left[id[t]];
            left[id[t]] = so_far[t] + v * label_weight[id[t]];
        }
        sum += v * ((so_far[0] + so_far[1]) + (so_far[2] + so_far[3]));
        sum_[b + 1] = sum;
        if constexpr (any_missing) {
            missing_sum +=
                v * ((missing[id[0]] + missing[id[1]]) + (missing[id[2]] + missing[id[3]]));
            missing_sum_[b + 1] = missing_sum;
        }
    }
}

void LabelMoves::move_listed(std::size_t n, double* square, double* cross, double* met) {
    if (n == 0) return;
    const std::size_t n_blocks = end_[n - 1];
    sum_[0] = missing_sum_[0] = 0;
    if (missing_ == nullptr) {
        unit_ ? move_blocks<true, false>(n_blocks) : move_blocks<false, false>(n_blocks);
        for (std::size_t k = 0; k < n; ++k) square[k] += 2 * sum_[end_[k]];
        return;
    }
    unit_ ? move_blocks<true, true>(n_blocks) : move_blocks<false, true>(n_blocks);
    for (std::size_t k = 0; k < n; ++k) {
        square[k] += 2 * sum_[end_[k]];
        met[k] = missing_sum_[end_[k]];
        cross[k] -= met[k];
    }
}

}  // namespace ramify
