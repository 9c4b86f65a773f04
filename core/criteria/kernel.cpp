#include "criteria/kernel.hpp"

#include <algorithm>
#include <numeric>

#include "common/simd.hpp"
#include "criteria/node_labels.hpp"

namespace ramify {

/// A scan by kernel costs n cells per entry, a scan by labels the labels of the entry; computing
/// the kernel costs as much as a few scans. The constants were fitted on FunCat and Gene Ontology
/// data, for trees (all features) and forests (five to seven).
bool Kernel::pays(const NodeLabels& labels, std::size_t n_scans) {
    const bool many = n_scans >= 20;
    const std::size_t most = many ? 160 : 100;
    const std::size_t n = labels.n_entries();
    return n <= most && n * n <= (many ? 2 : 1) * (20 * n + 2 * labels.n_ids());
}

void Kernel::resize(std::size_t n_entries) {
    stride = (n_entries + simd_block - 1) / simd_block * simd_block;
    cells.make_room(n_entries * stride);
}

void Kernel::compute(const NodeLabels& labels, const NodeRows& rows) {
    const std::size_t n = rows.size();
    resize(n);
    // The entries of each label so far, label by label.
    std::vector<std::uint32_t> begin(labels.n_local() + NodeLabels::n_fillers + 1, 0);
    for (std::size_t k = 0; k < labels.n_ids(); ++k) ++begin[labels.ids[k] + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> end(begin);
    std::vector<std::uint32_t> owners(labels.n_ids());
    for (std::uint32_t e = 0; e < n; ++e) {
        double* cell = cells.data() + e * stride;
        std::fill_n(cell, e, 0.0);
        std::fill(cell + n, cell + stride, 0.0);
        double own = 0;
        for (auto k = labels.indptr[e]; k < labels.indptr[e + 1]; ++k) {
            const auto id = labels.ids[k];
            if (id >= labels.n_local()) break;
            const double weight = labels.label_weight[id];
            own += weight;
            for (auto other = begin[id]; other < end[id]; ++other) cell[owners[other]] += weight;
            owners[end[id]++] = e;
        }
        cell[e] = own + labels.single[e];
    }
    for (std::size_t e = 0; e < n; ++e) {
        for (std::size_t other = 0; other < e; ++other) {
            cells[other * stride + e] = cells[e * stride + other];
        }
    }
    sum_up(rows);
}

void Kernel::restrict_to(const Kernel& parent, std::span<const std::uint32_t> above,
                         const NodeRows& rows) {
    const std::size_t n = rows.size();
    resize(n);
    // [i, j] seen from the origin b: ([i, j] - [i, b]) - ([b, j] - [b, b]).
    const auto origin = above[0];
    std::vector<double> shift(n);
    for (std::size_t j = 0; j < n; ++j) {
        shift[j] = parent.row(origin)[above[j]] - parent.row(origin)[origin];
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double* from = parent.row(above[i]);
        double* to = cells.data() + i * stride;
        gather_shifted(from, above.data(), from[origin], shift.data(), n, to);
        std::fill(to + n, to + stride, 0.0);
    }
    sum_up(rows);
}

void Kernel::sum_up(const NodeRows& rows) {
    cross.assign(stride, 0.0);
    mass = square = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        add_scaled(cross.data(), row(i), rows.weight[i], stride);
        mass += rows.weight[i] * row(i)[i];
    }
    for (std::size_t i = 0; i < rows.size(); ++i) square += rows.weight[i] * cross[i];
}

}  // namespace ramify
