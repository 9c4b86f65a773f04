#include "linear/link.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ramify {

namespace {

// What is known without any row: margins of 1 are fairly certain. It counts as much as a few rows,
// so that the scale stays finite where a handful of rows are all on the right side.
constexpr double usual_scale = 4;
constexpr double prior_weight = 4;
constexpr double least_scale = 0.05;
constexpr double largest_scale = 100;

/// Writes the probabilities of the classes of a row.
void find_shares(std::span<const float> margins, double scale, std::span<const double> offsets,
                 std::vector<double>& shares) {
    for (std::size_t k = 0; k < margins.size(); ++k) {
        shares[k] = scale * static_cast<double>(margins[k]) + offsets[k];
    }
    const double largest = *std::max_element(shares.begin(), shares.end());
    double total = 0;
    for (double& share : shares) total += share = std::exp(share - largest);
    for (double& share : shares) share /= total;
}

/// The derivative of the negative log-likelihood by log(scale).
double slope_of_classes(const HeldOutMargins& held_out, std::span<const std::int32_t> truth,
                        double scale, std::span<const double> offsets) {
    double slope = 0;
    std::vector<double> shares(held_out.n_outputs);
    for (std::size_t r = 0; r < held_out.n_rows(); ++r) {
        const auto margins = held_out.row(r);
        find_shares(margins, scale, offsets, shares);
        const double own = margins[static_cast<std::size_t>(truth[r])];
        double difference = 0;
        for (std::size_t k = 0; k < shares.size(); ++k)
            difference += shares[k] * (margins[k] - own);
        slope += held_out.weights[r] * difference;
    }
    return scale * slope + prior_weight * std::log(scale / usual_scale);
}

/// Returns the most likely scale between two.
double find_scale(const HeldOutMargins& held_out, std::span<const std::int32_t> truth,
                  std::span<const double> offsets, double lowest, double highest) {
    double low = std::log(lowest);
    double high = std::log(highest);
    while (high - low > 2e-3) {
        const double middle = (low + high) / 2;
        const double slope = slope_of_classes(held_out, truth, std::exp(middle), offsets);
        (slope > 0 ? high : low) = middle;
    }
    return std::exp((low + high) / 2);
}

/// Moves the offsets of classes to where the rows are most likely, and returns how far. The
/// curvature is at most twice its diagonal, so that all offsets may move at once.
double move_offsets(const HeldOutMargins& held_out, std::span<const std::int32_t> truth,
                    double scale, std::span<double> offsets) {
    std::vector<double> slope(offsets.size());
    std::vector<double> curvature(offsets.size(), prior_weight);
    std::vector<double> shares(offsets.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) slope[k] = prior_weight * offsets[k];
    for (std::size_t r = 0; r < held_out.n_rows(); ++r) {
        const double weight = held_out.weights[r];
        find_shares(held_out.row(r), scale, offsets, shares);
        for (std::size_t k = 0; k < shares.size(); ++k) {
            slope[k] += weight * shares[k];
            curvature[k] += 2 * weight * shares[k] * (1 - shares[k]);
        }
        slope[static_cast<std::size_t>(truth[r])] -= weight;
    }
    double largest = 0;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        const double move = slope[k] / curvature[k];
        offsets[k] -= move;
        largest = std::max(largest, std::abs(move));
    }
    return largest;
}

/// Newton's method for the labels from `first` up to, but not including, `last`. The likelihood is
/// concave, and the prior keeps the optimum finite. Steps are limited instead of searched, which
/// is enough for two parameters.
LinearLink link_together(const HeldOutMargins& held_out, std::span<const std::uint8_t> truth,
                         std::size_t first, std::size_t last, const LinearLink& prior) {
    LinearLink link = prior;
    const double by_unit = prior_weight / (prior.scale * prior.scale);
    for (int step = 0; step < 30; ++step) {
        double by_scale = by_unit * (link.scale - prior.scale);
        double by_offset = prior_weight * (link.offset - prior.offset);
        double a = by_unit;
        double b = 0;
        double c = prior_weight;
        for (std::size_t r = 0; r < held_out.n_rows(); ++r) {
            const auto margins = held_out.row(r);
            const double weight = held_out.weights[r];
            for (std::size_t k = first; k < last; ++k) {
                const double margin = margins[k];
                const double p = 1 / (1 + std::exp(-link.scale * margin - link.offset));
                const double error = weight * (p - truth[r * held_out.n_outputs + k]);
                const double spread = weight * p * (1 - p);
                by_scale += error * margin;
                by_offset += error;
                a += spread * margin * margin;
                b += spread * margin;
                c += spread;
            }
        }
        const double determinant = a * c - b * b;
        const double move = (c * by_scale - b * by_offset) / determinant;
        const double shift = (a * by_offset - b * by_scale) / determinant;
        const double next = std::clamp(link.scale - std::clamp(move, -link.scale, link.scale / 2),
                                       least_scale, largest_scale);
        const double moved = std::clamp(shift, -2.0, 2.0);
        const bool done =
            std::abs(next - link.scale) < 1e-3 * link.scale && std::abs(moved) < 1e-3;
        link = {next, link.offset - moved};
        if (done) break;
    }
    return link;
}

}  // namespace

std::vector<LinearLink> link_classes(const HeldOutMargins& held_out,
                                     std::span<const std::int32_t> truth) {
    std::vector<double> offsets(held_out.n_outputs);
    double scale = find_scale(held_out, truth, offsets, least_scale, largest_scale);
    for (int step = 0; step < 10; ++step) {
        if (move_offsets(held_out, truth, scale, offsets) < 0.01) break;
    }
    // Usually, classes that are told apart better allow for a larger one.
    scale = find_scale(held_out, truth, offsets, std::max(least_scale, scale / 2),
                       std::min(largest_scale, scale * 2));
    std::vector<LinearLink> found;
    for (const double offset : offsets) found.push_back({scale, offset});
    return found;
}

std::vector<LinearLink> link_labels(const HeldOutMargins& held_out,
                                    std::span<const std::uint8_t> truth) {
    const LinearLink together =
        link_together(held_out, truth, 0, held_out.n_outputs, {usual_scale, 0});
    std::vector<LinearLink> found(held_out.n_outputs, together);
    for (std::size_t k = 0; found.size() > 1 && k < found.size(); ++k) {
        found[k] = link_together(held_out, truth, k, k + 1, together);
    }
    return found;
}

}  // namespace ramify
