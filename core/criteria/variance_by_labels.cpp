#include "criteria/variance_by_labels.hpp"

#include <algorithm>

namespace ramify {

void VarianceByLabels::reset(const NodeLabels& labels, std::span<const double> weights) {
    labels_ = &labels;
    weights_ = weights;
    weights_listed_ = false;
    // Fillers have cells too, which are always zero.
    missing_.resize(labels.n_local() + NodeLabels::n_fillers);
    moves_.reset(labels, weights);
}

VarianceMass VarianceByLabels::begin(std::span<const std::uint32_t> missing) {
    VarianceMass known{labels_->square, labels_->mass};
    any_missing_ = !missing.empty();
    missing_sums_ = {};
    if (!any_missing_) return known;
    std::fill_n(missing_.begin(), labels_->n_local() + NodeLabels::n_fillers, 0.0);
    for (const auto entry : missing) {
        const double v = weights_[entry];
        double sum = 0;
        for (const auto id : labels_->ids_of(entry)) {
            sum += missing_[id];
            missing_[id] += v * labels_->label_weight[id];
        }
        known.mass -= v * labels_->own[entry];
        // Q of what is known: Q - 2 sum w T M + sum w M^2, one missing entry after the other.
        const double square = v * (2 * sum + v * labels_->own[entry]);
        known.square += square - 2 * v * labels_->cross[entry];
        missing_sums_.square += square;
        missing_sums_.cross += v * labels_->cross[entry];
        missing_sums_.weight += v;
    }
    return known;
}

void VarianceByLabels::move(std::uint32_t entry, double* square, double* cross) {
    const RankedEntry item{entry, 0};
    double weight;
    moves_.list({&item, 1}, &weight, square, cross);
    double met;
    moves_.move_listed(1, square, cross, &met);
}

std::size_t VarianceByLabels::move(std::span<const RankedEntry> items, double known_weight,
                                   const SweepLimits& limits, PrefixSums& sums) {
    if (limits.unit) items = items.first(sums.count(items.size(), known_weight, limits));
    sums.make_room(items.size());
    // Weights of 1 add up to the numbers that were counted: the list writes the same again.
    moves_.list(items, sums.weight.data(), sums.square.data(), sums.cross.data());
    if (!limits.unit) items = items.first(sums.cut(items, known_weight, limits));
    moves_.move_listed(items.size(), sums.square.data(), sums.cross.data(), sums.met.data());
    return items.size();
}

double VarianceByLabels::cross(std::uint32_t entry) const {
    double cross = labels_->cross[entry];
    if (any_missing_) {
        for (const auto id : labels_->ids_of(entry)) cross -= missing_[id];
    }
    return cross;
}

/// Each entry meets the sums of those before it. Only labels of the listed entries take part, and
/// rows of sums are zero again afterwards: where one category has most of the rows, it is not
/// listed.
void VarianceByLabels::add_products(std::span<const CategoryEntry> entries,
                                    std::size_t n_categories, std::vector<double>& products) {
    constexpr std::size_t block = 4;
    const std::size_t stride = (n_categories + block - 1) / block * block;
    const std::size_t n_sums = (labels_->n_local() + NodeLabels::n_fillers) * stride;
    if (category_sums_.size() < n_sums) category_sums_.resize(n_sums, 0.0);
    if (!weights_listed_) labels_->list_weights(label_weight_);
    weights_listed_ = true;
    met_.assign(n_categories * stride, 0.0);
    std::size_t n_seen = 0;
    for (const auto& [category, entry] : entries) {
        const double v = weights_[entry];
        const auto begin = labels_->indptr[entry];
        const auto end = labels_->indptr[entry + 1];
        n_seen += end - begin;
        for (std::size_t first = 0; first < stride; first += block) {
            double met[block] = {};
            for (auto k = begin; k < end; ++k) {
                const auto id = labels_->ids[k];
                const double* sums = category_sums_.data() + id * stride + first;
                for (std::size_t u = 0; u < block; ++u) met[u] += label_weight_[id] * sums[u];
            }
            double* row = met_.data() + category * stride + first;
            for (std::size_t u = 0; u < block; ++u) row[u] += v * met[u];
        }
        for (auto k = begin; k < end; ++k) {
            category_sums_[labels_->ids[k] * stride + category] += v;
        }
        products[category * n_categories + category] += v * v * labels_->own[entry];
    }
    for (std::size_t v = 0; v < n_categories; ++v) {
        for (std::size_t u = 0; u < n_categories; ++u) {
            products[v * n_categories + u] += met_[v * stride + u] + met_[u * stride + v];
        }
    }
    forget_sums(entries, n_seen, stride);
}

void VarianceByLabels::forget_sums(std::span<const CategoryEntry> entries, std::size_t n_seen,
                                   std::size_t stride) {
    const std::size_t n_labels = labels_->n_local() + NodeLabels::n_fillers;
    if (n_seen > n_labels) {
        std::fill_n(category_sums_.begin(), n_labels * stride, 0.0);
        return;
    }
    for (const auto& [category, entry] : entries) {
        for (auto k = labels_->indptr[entry]; k < labels_->indptr[entry + 1]; ++k) {
            category_sums_[labels_->ids[k] * stride + category] = 0;
        }
    }
}

}  // namespace ramify
