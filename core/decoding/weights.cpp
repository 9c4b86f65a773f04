#include "decoding/weights.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/log_series.hpp"
#include "common/simd.hpp"

namespace ramify {

namespace {

// Probabilities are kept away from 0 and 1, whose weights would be infinite.
constexpr double min_probability = 1e-9;

// Factors are at least 1e-9. Their product is added to the weight as a logarithm after this many
// children or parents, before it can underflow.
constexpr std::size_t max_children = 20;
constexpr std::size_t max_parents = 8;

/// The natural logarithm of positive normal numbers, accurate to the last digit or two.
///
/// x = 2^e m with m in [√½, √2), log x = e log 2 + 2 artanh s with s = (m - 1) / (m + 1).
RAMIFY_INSIDE Lanes log_of(const Lanes& x) {
    constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcdULL;
    constexpr std::uint64_t one = 0x3ff0000000000000ULL;
    const LaneBits shifted = std::bit_cast<LaneBits>(x) + (one - root_of_half);
    const LaneBits mantissa = (shifted & 0x000fffffffffffffULL) + root_of_half;
    // A 52-bit integer in the mantissa of 2^52 gives 2^52 plus the integer without a conversion.
    const LaneBits exponent = (shifted >> 52) | 0x4330000000000000ULL;
    const Lanes m = std::bit_cast<Lanes>(mantissa);
    const Lanes e = std::bit_cast<Lanes>(exponent) - (4503599627370496.0 + 1023.0);
    const Lanes s = (m - 1.0) / (m + 1.0);
    const Lanes z = s * s;
    return e * 0.6931471805599453 + 2.0 * (s + s * z * artanh_tail(z));
}

RAMIFY_INSIDE Lanes clipped(const Lanes& p) {
    return smaller(larger(p, all(min_probability)), all(1.0 - min_probability));
}

/// P(child | parent) from P(child) and P(parent), with 0 / 0 = 0.
RAMIFY_INSIDE Lanes quotient(const Lanes& child, const Lanes& parent) {
    return clipped(child / larger(parent, all(1e-300)));
}

RAMIFY_INSIDE void add_log(double* weights, std::size_t label, const Lanes& product) {
    store(weights, label, load(weights, label) + log_of(product));
}

/// The arrays from which the posterior of some rows is computed.
struct PosteriorTable {
    SparseRowsView parents;
    const double* given;
    bool are_marginals;
    const char* flush;
    double* weights;
    double* product;
};

/// Multiplies the odds of a label by those of an edge, and the product of its parent by 1 - p.
RAMIFY_INSIDE void follow_edge(const PosteriorTable& table, std::size_t label, std::int32_t parent,
                               std::size_t edge, Lanes& odds) {
    const bool is_top = parent < 0;
    Lanes p;
    if (table.are_marginals) {
        const Lanes above =
            is_top ? all(1.0) : load(table.given, static_cast<std::size_t>(parent));
        p = quotient(load(table.given, label), above);
    } else {
        p = clipped(load(table.given, edge));
    }
    const Lanes stay = 1.0 - p;
    odds *= p / stay;
    if (is_top) return;
    const auto above = static_cast<std::size_t>(parent);
    const Lanes product = load(table.product, above) * stay;
    if (table.flush[edge]) add_log(table.weights, above, product);
    store(table.product, above, table.flush[edge] ? all(1.0) : product);
}

RAMIFY_ANY_WIDTH
void make_posterior(const PosteriorTable& table) {
    const std::size_t n_labels = table.parents.n_rows();
    std::size_t edge = 0;
    for (std::size_t label = 0; label < n_labels; ++label) {
        Lanes odds = all(1.0);
        std::size_t n_parents = 0;
        for (const std::int32_t parent : table.parents.row(label)) {
            follow_edge(table, label, parent, edge++, odds);
            if (++n_parents % max_parents == 0) {
                add_log(table.weights, label, odds);
                odds = all(1.0);
            }
        }
        if (n_parents == 0) follow_edge(table, label, -1, edge++, odds);
        store(table.product, label, load(table.product, label) * odds);
    }
    for (std::size_t label = 0; label < n_labels; ++label) {
        add_log(table.weights, label, load(table.product, label));
    }
}

}  // namespace

std::size_t row_width(const LeafGraph& graph, Values values) {
    if (values != Values::conditionals) return graph.n_labels();
    std::size_t n_edges = 0;
    for (std::size_t label = 0; label < graph.n_labels(); ++label) {
        n_edges += std::max<std::size_t>(1, graph.parents().row(label).size());
    }
    return n_edges;
}

WeightMaker::WeightMaker(const LeafGraph& graph, Values values, std::span<const double> slope,
                         std::span<const double> offset)
    : graph_(graph),
      values_(values),
      slope_(slope),
      offset_(offset),
      width_(row_width(graph, values)),
      given_(width_ * abreast),
      weights_(graph.n_labels() * abreast),
      product_(graph.n_labels() * abreast) {
    std::vector<std::size_t> n_children(graph.n_labels());
    for (std::size_t label = 0; label < graph.n_labels(); ++label) {
        const auto above = graph.parents().row(label);
        for (const std::int32_t parent : above) {
            flush_.push_back(++n_children[parent] % max_children == 0);
        }
        if (above.empty()) flush_.push_back(0);
    }
}

std::span<const double> WeightMaker::operator()(std::span<const double> rows) {
    transpose_rows(rows);
    if (values_ == Values::weights) return given_;
    if (values_ == Values::risk) {
        compute_risk_weights();
        return weights_;
    }
    std::fill(weights_.begin(), weights_.end(), 0.0);
    std::fill(product_.begin(), product_.end(), 1.0);
    make_posterior({graph_.parents(), given_.data(), values_ == Values::marginals, flush_.data(),
                    weights_.data(), product_.data()});
    return weights_;
}

void WeightMaker::transpose_rows(std::span<const double> rows) {
    const std::size_t n_rows = rows.size() / width_;
    const double* row[abreast];
    for (std::size_t t = 0; t < abreast; ++t) row[t] = rows.data() + (t < n_rows ? t : 0) * width_;
    for (std::size_t column = 0; column < width_; ++column) {
        double* to = given_.data() + column * abreast;
        for (std::size_t t = 0; t < abreast; ++t) to[t] = row[t][column];
    }
}

void WeightMaker::compute_risk_weights() {
    for (std::size_t label = 0; label < width_; ++label) {
        for (std::size_t t = 0; t < abreast; ++t) {
            const std::size_t at = label * abreast + t;
            weights_[at] = slope_[label] * given_[at] + offset_[label];
        }
    }
}

}  // namespace ramify
