// Sums over the entries of a node by value of a feature, for one label.
//
// Three kinds of cells serve three kinds of nodes: counts if every row is whole and has weight 1,
// weights if rows are divided by missing values, weights and rows if rows have other weights.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Sums over some entries: their weight, the weight of those that have the label, their rows.
struct Sums {
    double weight = 0;
    double positive = 0;
    double rows = 0;
};

inline Sums operator+(const Sums& a, const Sums& b) {
    return {a.weight + b.weight, a.positive + b.positive, a.rows + b.rows};
}
inline Sums operator-(const Sums& a, const Sums& b) {
    return {a.weight - b.weight, a.positive - b.positive, a.rows - b.rows};
}

/// Whole rows of weight 1: two counts in one word, rows below, rows with the label above.
struct CountCell {
    static constexpr bool rows_differ = false;  // from weights
    static constexpr bool is_exact = true;      // sums may be subtracted without rounding errors
    std::uint64_t counts = 0;

    static CountCell of(double, double, bool positive) {
        return {std::uint64_t{1} | (std::uint64_t{positive} << 32)};
    }
    CountCell operator+(CountCell other) const { return {counts + other.counts}; }
    CountCell operator-(CountCell other) const { return {counts - other.counts}; }
    Sums sums() const {
        const auto rows = static_cast<double>(static_cast<std::uint32_t>(counts));
        return {rows, static_cast<double>(counts >> 32), rows};
    }
};

/// Parts of rows of weight 1: weights equal parts.
struct PartCell {
    static constexpr bool rows_differ = false;
    static constexpr bool is_exact = false;
    double weight = 0;
    double positive = 0;

    static PartCell of(double weight, double, bool positive) {
        return {weight, positive ? weight : 0.0};
    }
    PartCell operator+(PartCell other) const {
        return {weight + other.weight, positive + other.positive};
    }
    Sums sums() const { return {weight, positive, weight}; }
};

/// Rows of any weight.
struct WeightCell {
    static constexpr bool rows_differ = true;
    static constexpr bool is_exact = false;
    double weight = 0;
    double positive = 0;
    double rows = 0;

    static WeightCell of(double weight, double part, bool positive) {
        return {weight, positive ? weight : 0.0, part};
    }
    WeightCell operator+(const WeightCell& other) const {
        return {weight + other.weight, positive + other.positive, rows + other.rows};
    }
    Sums sums() const { return {weight, positive, rows}; }
};

/// Sums over the entries up to each value of a feature, from the first value on. Values that do
/// not occur may be listed; their sums are those of the value before.
struct Profile {
    std::size_t size = 0;
    std::vector<double> weight;
    std::vector<double> positive;
    std::vector<double> rows;          // filled where rows differ from weights
    std::vector<std::uint32_t> codes;  // filled where not all codes are listed
    bool all_codes = true;
    Sums missing;  // of the entries whose value is missing

    Sums sums(std::size_t k) const {
        return {weight[k], positive[k], rows.empty() ? weight[k] : rows[k]};
    }
    std::uint32_t code(std::size_t k) const {
        return all_codes ? static_cast<std::uint32_t>(k) : codes[k];
    }
};

/// Adds up the entries of a node by value of a feature.
template <typename Cell>
class Tally {
  public:
    explicit Tally(std::size_t max_values)
        : cells_(max_values + 1),
          lanes_(n_lanes * (few_values + 1)),
          words_(max_values / 64 + 1, 0),
          groups_(words_.size() / 64 + 1, 0) {
        profile_.weight.resize(max_values + 1);
        profile_.positive.resize(max_values + 1);
        if (Cell::rows_differ) profile_.rows.resize(max_values + 1);
        profile_.codes.resize(max_values + 1);
    }

    /// Counts rows without the label as positive; for exact cells only.
    void turn(bool turned) { turned_ = turned; }

    /// Codes are below `n_values`; that number itself stands for a missing value.
    const Profile& count(const std::uint16_t* column, std::uint32_t n_values,
                         std::span<const std::uint32_t> rows, std::span<const Cell> steps) {
        profile_.all_codes = n_values <= max_listed * rows.size();
        if (profile_.all_codes) {
            add(column, n_values, rows, steps, cells_.data());
            list(cells_.data(), n_values);
            std::fill_n(cells_.begin(), n_values + 1, Cell{});
        } else {
            add_spread(column, rows, steps);
            list_spread(n_values);
            profile_.missing = turned_sums(cells_[n_values]);
            cells_[n_values] = Cell{};
        }
        return profile_;
    }

    /// The same from the cells of `add`.
    const Profile& read(const Cell* cells, std::uint32_t n_values) {
        profile_.all_codes = true;
        list(cells, n_values);
        return profile_;
    }

    /// Adds entries to the cells of their values, of which there are n_values + 1.
    void add(const std::uint16_t* column, std::uint32_t n_values,
             std::span<const std::uint32_t> rows, std::span<const Cell> steps, Cell* cells) {
        if (n_values <= few_values) {
            add_few(column, n_values, rows, steps, cells);
            return;
        }
        for (std::size_t e = 0; e < rows.size(); ++e) {
            Cell& cell = cells[column[rows[e]]];
            cell = cell + steps[e];
        }
    }

  private:
    static constexpr std::size_t n_lanes = 4;
    static constexpr std::size_t few_values = 64;
    static constexpr std::size_t max_listed =
        3;  // values per entry; with more, bits find those in use

    Sums turned_sums(const Cell& cell) const {
        Sums sums = cell.sums();
        if (Cell::is_exact && turned_) sums.positive = sums.weight - sums.positive;
        return sums;
    }
    void put(std::size_t k, const Cell& cell) {
        const Sums sums = turned_sums(cell);
        profile_.weight[k] = sums.weight;
        profile_.positive[k] = sums.positive;
        if constexpr (Cell::rows_differ) profile_.rows[k] = sums.rows;
    }

    /// With few values, consecutive entries often share a cell and would wait for each other:
    /// neighbouring entries are added to separate tables.
    void add_few(const std::uint16_t* column, std::uint32_t n_values,
                 std::span<const std::uint32_t> rows, std::span<const Cell> steps, Cell* cells) {
        const std::size_t n_cells = n_values + 1;
        std::fill_n(lanes_.begin(), n_lanes * n_cells, Cell{});
        std::size_t e = 0;
        for (; e + n_lanes <= rows.size(); e += n_lanes) {
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                Cell& cell = lanes_[lane * n_cells + column[rows[e + lane]]];
                cell = cell + steps[e + lane];
            }
        }
        for (; e < rows.size(); ++e) {
            Cell& cell = lanes_[column[rows[e]]];
            cell = cell + steps[e];
        }
        for (std::size_t code = 0; code < n_cells; ++code) {
            const Cell* lane = lanes_.data() + code;
            cells[code] = cells[code] +
                          ((lane[0] + lane[n_cells]) + (lane[2 * n_cells] + lane[3 * n_cells]));
        }
    }

    /// More values than entries: bits tell which cells are in use, and the others are not visited.
    void add_spread(const std::uint16_t* column, std::span<const std::uint32_t> rows,
                    std::span<const Cell> steps) {
        for (std::size_t e = 0; e < rows.size(); ++e) {
            const std::uint32_t code = column[rows[e]];
            cells_[code] = cells_[code] + steps[e];
            words_[code / 64] |= std::uint64_t{1} << (code % 64);
            groups_[code / 4096] |= std::uint64_t{1} << (code / 64 % 64);
        }
    }

    void list(const Cell* cells, std::uint32_t n_values) {
        Cell sum{};
        std::size_t k = 0;
        // Two at a time: the chain of additions limits the speed of this loop.
        for (; k + 2 <= n_values; k += 2) {
            put(k, sum + cells[k]);
            sum = sum + (cells[k] + cells[k + 1]);
            put(k + 1, sum);
        }
        if (k < n_values) put(k, sum + cells[k]);
        profile_.size = n_values;
        profile_.missing = turned_sums(cells[n_values]);
    }

    void list_spread(std::uint32_t n_values) {
        Cell sum{};
        std::size_t k = 0;
        for (std::size_t g = 0; g <= n_values / 4096; ++g) {
            for (auto group = groups_[g]; group != 0; group &= group - 1) {
                const std::size_t w = g * 64 + static_cast<std::size_t>(std::countr_zero(group));
                for (auto word = words_[w]; word != 0; word &= word - 1) {
                    const auto code = static_cast<std::uint32_t>(w * 64) +
                                      static_cast<std::uint32_t>(std::countr_zero(word));
                    if (code == n_values) continue;
                    sum = sum + cells_[code];
                    put(k, sum);
                    profile_.codes[k++] = code;
                    cells_[code] = Cell{};
                }
                words_[w] = 0;
            }
            groups_[g] = 0;
        }
        profile_.size = k;
    }

    std::vector<Cell> cells_;  // per value and one for missing values; zero between features
    std::vector<Cell> lanes_;
    std::vector<std::uint64_t> words_;   // a bit per value
    std::vector<std::uint64_t> groups_;  // a bit per word
    bool turned_ = false;
    Profile profile_;
};

}  // namespace ramify
