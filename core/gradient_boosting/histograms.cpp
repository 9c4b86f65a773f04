#include "gradient_boosting/histograms.hpp"

#include <algorithm>

#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

// Sums are added up in parts: the error of a sum in single precision grows with the number of its
// terms, and exceeds what a label adds to it by chance when there are about a million.
constexpr std::size_t rows_per_float_sum = 8192;

}  // namespace

void Histograms::reset(std::span<const std::size_t> first_bin, std::size_t width) {
    width_ = width;
    first_bin_.assign(first_bin.begin(), first_bin.end());
    sums_.resize(first_bin.back() * width);
    rows_.resize(first_bin.back());
    weights_.resize(first_bin.back());
}

HistogramView Histograms::view(std::size_t feature) const {
    const auto first = first_bin_[feature];
    return {sums_.data() + first * width_, rows_.data() + first, weights_.data() + first};
}

void Histograms::fill(std::size_t feature, const std::uint8_t* bins, const SketchedRows& node) {
    const auto first = first_bin_[feature];
    const auto last = first_bin_[feature + 1];
    const auto n_floats = (last - first) * width_;
    float* sums = &sums_[first * width_];
    std::fill_n(sums, n_floats, 0.0F);
    std::fill(&rows_[first], &rows_[last - 1] + 1, 0U);
    std::fill(&weights_[first], &weights_[last - 1] + 1, 0.0);
    thread_local std::vector<float> part;
    for (std::size_t begin = 0; begin < node.rows.size(); begin += rows_per_float_sum) {
        const auto rows =
            node.rows.subspan(begin, std::min(rows_per_float_sum, node.rows.size() - begin));
        if (begin == 0) {
            add_rows(first, bins, rows, node, sums);
            continue;
        }
        part.assign(n_floats, 0.0F);
        add_rows(first, bins, rows, node, part.data());
        add_floats(sums, part.data(), n_floats);
    }
}

void Histograms::add_rows(std::size_t first, const std::uint8_t* bins,
                          std::span<const std::uint32_t> rows, const SketchedRows& node,
                          float* sums) {
    // A few rows at a time, whose bins fit the first-level cache.
    constexpr std::size_t at_once = 512;
    std::uint32_t target[at_once];
    for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
        const auto n = std::min(at_once, rows.size() - begin);
        const auto* from = rows.data() + begin;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t bin = bins[from[i]];
            target[i] = bin;
            ++rows_[first + bin];
            weights_[first + bin] += static_cast<double>(node.weight[from[i]]);
        }
        add_vectors(node.sketch, from, target, n, width_, sums);
    }
}

void Histograms::add_records(std::size_t first, std::size_t last, const RecordSums& part,
                             std::size_t n_outputs, std::optional<double> weight, bool clear) {
    const auto stride = record_stride(n_outputs);
    if (clear) {
        std::fill(&sums_[first * width_], &sums_[(last - 1) * width_] + width_, 0.0F);
        std::fill(&rows_[first], &rows_[last - 1] + 1, 0U);
        std::fill(&weights_[first], &weights_[last - 1] + 1, 0.0);
    }
    for (auto b = first; b < last; ++b) {
        const float* from = part.sums() + b * stride;
        const auto n_rows = static_cast<std::uint32_t>(from[n_outputs]);
        if (n_rows == 0) continue;
        float* to = &sums_[b * width_];
        for (std::size_t k = 0; k < n_outputs; ++k) to[k] += from[k];
        rows_[b] += n_rows;
        weights_[b] =
            weight ? *weight * static_cast<double>(rows_[b]) : weights_[b] + part.weights()[b];
    }
}

void Histograms::subtract(std::size_t feature, const HistogramView& other) {
    const auto first = first_bin_[feature];
    const auto n_bins = first_bin_[feature + 1] - first;
    subtract_floats(&sums_[first * width_], other.sums, n_bins * width_);
    for (std::size_t b = 0; b < n_bins; ++b) {
        rows_[first + b] -= other.rows[b];
        weights_[first + b] -= other.weights[b];
    }
}

void SparseHistograms::fill(const BinnedData& data, const SparseGroup& group,
                            std::span<const std::uint32_t> places, const SketchedRows& node,
                            const NodeTotal& total) {
    std::vector<std::size_t> first_bin{0};
    slot_of_place_.assign(group.features.size(), -1);
    for (std::size_t i = 0; i < places.size(); ++i) {
        slot_of_place_[places[i]] = static_cast<std::int32_t>(i);
        const auto number = static_cast<std::size_t>(group.features[places[i]]);
        first_bin.push_back(first_bin.back() + data.features[number].n_bins + 1U);
    }
    histograms_.reset(first_bin, node.width);
    n_cells_.assign(places.size(), 0);
    std::ranges::fill(histograms_.rows_, 0U);
    std::ranges::fill(histograms_.weights_, 0.0);
    list_cells(group, node);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (n_cells_[i] == 0) continue;
        std::fill(&histograms_.sums_[first_bin[i] * node.width],
                  &histograms_.sums_[first_bin[i + 1] * node.width - 1] + 1, 0.0F);
    }
    add_cells(node);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (n_cells_[i] == 0) continue;
        // All other rows are zero: what is left of the total.
        const auto number = static_cast<std::size_t>(group.features[places[i]]);
        const auto zero = first_bin[i] + data.features[number].zero_bin;
        float* sums = &histograms_.sums_[zero * node.width];
        std::copy_n(total.sums, node.width, sums);
        std::uint32_t rows = total.rows;
        double weight = total.weight;
        for (auto b = first_bin[i]; b < first_bin[i + 1]; ++b) {
            if (b == zero) continue;
            if (histograms_.rows_[b] == 0) continue;
            subtract_floats(sums, &histograms_.sums_[b * node.width], node.width);
            rows -= histograms_.rows_[b];
            weight -= histograms_.weights_[b];
        }
        histograms_.rows_[zero] = rows;
        histograms_.weights_[zero] = weight;
    }
}

void SparseHistograms::list_cells(const SparseGroup& group, const SketchedRows& node) {
    row_.clear();
    target_.clear();
    part_end_.clear();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        if (i > 0 && i % rows_per_float_sum == 0) part_end_.push_back(row_.size());
        const auto row = node.rows[i];
        for (auto k = group.indptr[row]; k < group.indptr[row + 1]; ++k) {
            const auto& cell = group.cells[k];
            const auto slot = slot_of_place_[cell.place];
            if (slot < 0) continue;
            const auto bin = histograms_.first_bin_[static_cast<std::size_t>(slot)] + cell.bin;
            ++n_cells_[static_cast<std::size_t>(slot)];
            row_.push_back(row);
            target_.push_back(static_cast<std::uint32_t>(bin));
            ++histograms_.rows_[bin];
            histograms_.weights_[bin] += static_cast<double>(node.weight[row]);
        }
    }
    part_end_.push_back(row_.size());
}

void SparseHistograms::add_cells(const SketchedRows& node) {
    auto& sums = histograms_.sums_;
    std::size_t begin = 0;
    for (const auto end : part_end_) {
        const auto add = [&](float* to) {
            add_vectors(node.sketch, row_.data() + begin, target_.data() + begin, end - begin,
                        node.width, to);
        };
        if (begin == 0) {
            add(sums.data());
        } else {
            part_.assign(sums.size(), 0.0F);
            add(part_.data());
            add_floats(sums.data(), part_.data(), sums.size());
        }
        begin = end;
    }
}

}  // namespace ramify
