#include "decoding/climbing.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace ramify {

namespace {

/// Returns the label at which the path of a row ends most probably; `stop` is scratch memory.
std::int64_t likeliest_end(std::span<const double> row, SparseRowsView parents,
                           std::span<const std::uint8_t> ends, std::vector<double>& stop) {
    std::copy(row.begin(), row.end(), stop.begin());
    for (std::size_t l = 0; l < row.size(); ++l) {
        for (const std::int32_t parent : parents.row(l)) stop[parent] -= row[l];
    }
    double best = -1.0;
    std::int64_t chosen = 0;
    for (std::size_t l = 0; l < row.size(); ++l) {
        const double probability = std::max(0.0, stop[l]);
        if (ends[l] != 0 && probability > best) {
            best = probability;
            chosen = static_cast<std::int64_t>(l);
        }
    }
    return chosen;
}

/// Returns the likeliest parent of a label, -1 at the top.
std::int64_t likeliest_parent(std::span<const double> row, SparseRowsView parents,
                              std::int64_t label) {
    std::int64_t chosen = -1;
    for (const std::int32_t parent : parents.row(static_cast<std::size_t>(label))) {
        if (chosen < 0 || row[parent] > row[chosen]) chosen = parent;
    }
    return chosen;
}

/// Returns the number of labels on the longest way up.
std::size_t n_levels(SparseRowsView parents) {
    std::vector<std::size_t> level(parents.n_rows(), 1);
    for (std::size_t l = 0; l < level.size(); ++l) {
        for (const std::int32_t parent : parents.row(l)) {
            level[l] = std::max(level[l], level[parent] + 1);
        }
    }
    return *std::max_element(level.begin(), level.end());
}

}  // namespace

Climbs climb(std::span<const double> scores, SparseRowsView parents,
             std::span<const std::uint8_t> ends, StopSignal& signal) {
    const std::size_t n_labels = parents.n_rows();
    const std::size_t n_rows = scores.size() / n_labels;
    const std::size_t length = n_levels(parents);
    Climbs found{length, std::vector<std::int64_t>(n_rows * length, -1),
                 std::vector<double>(n_rows * length, std::numeric_limits<double>::infinity())};
    std::vector<double> stop(n_labels);
    for (std::size_t r = 0; r < n_rows; ++r) {
        signal.check();
        const auto row = scores.subspan(r * n_labels, n_labels);
        std::int64_t label = likeliest_end(row, parents, ends, stop);
        double largest = row[label];
        for (std::size_t k = r * length; label >= 0; ++k) {
            largest = std::max(largest, row[label]);
            found.labels[k] = label;
            found.values[k] = largest;
            label = likeliest_parent(row, parents, label);
        }
    }
    return found;
}

}  // namespace ramify
