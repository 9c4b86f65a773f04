#include "decoding/best_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

namespace {

constexpr std::size_t rows_at_a_time = 64;
constexpr double almost_certain = 1 - 1e-9;  // keeps logarithms finite
constexpr double nearly_zero = 1e-200;
constexpr double negligible = 1e-9;  // smaller probabilities count as 0

SparseRows children_of(SparseRowsView parents) {
    SparseRows children;
    children.indptr.assign(parents.n_rows() + 1, 0);
    for (const std::int32_t parent : parents.indices) ++children.indptr[parent + 1];
    for (std::size_t l = 0; l < parents.n_rows(); ++l) {
        children.indptr[l + 1] += children.indptr[l];
    }
    children.indices.resize(parents.indices.size());
    auto next = children.indptr;
    for (std::size_t l = 0; l < parents.n_rows(); ++l) {
        for (const std::int32_t parent : parents.row(l)) {
            children.indices[static_cast<std::size_t>(next[parent]++)] =
                static_cast<std::int32_t>(l);
        }
    }
    return children;
}

/// The probabilities of a row, and the labels that have some if few do, in increasing order.
struct RowScores {
    std::span<const double> all;
    std::span<const std::int32_t> listed;
    bool sparse;

    template <typename Look>
    void for_each(Look look) const {
        if (sparse) {
            for (const auto l : listed) look(static_cast<std::size_t>(l));
        } else {
            for (std::size_t l = 0; l < all.size(); ++l) look(l);
        }
    }
};

struct Extent {
    double sum;
    double largest;
};

/// Four sums at a time: one would wait for each addition. The same for rows of both kinds.
Extent sum_and_largest(const RowScores& row) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    double largest[4] = {0.0, 0.0, 0.0, 0.0};
    const auto all = row.all;
    const std::size_t n_abreast = all.size() / 4 * 4;
    const auto add = [&](std::size_t l, std::size_t k) {
        sum[k] += all[l];
        largest[k] = std::max(largest[k], all[l]);
    };
    if (row.sparse) {
        for (const auto l : row.listed) {
            const auto at = static_cast<std::size_t>(l);
            add(at, at < n_abreast ? at % 4 : 0);
        }
    } else {
        for (std::size_t l = 0; l < n_abreast; l += 4) {
            for (std::size_t k = 0; k < 4; ++k) add(l + k, k);
        }
        for (std::size_t l = n_abreast; l < all.size(); ++l) add(l, 0);
    }
    return {(sum[0] + sum[1]) + (sum[2] + sum[3]), *std::max_element(largest, largest + 4)};
}

/// Chooses label sets in one thread.
class SetChooser {
  public:
    SetChooser(SparseRowsView parents, SparseRowsView children, bool may_be_empty)
        : parents_(parents),
          children_(children),
          may_be_empty_(may_be_empty),
          taken_(parents.n_rows(), 0) {
        for (std::size_t l = 0; l < parents.n_rows(); ++l) {
            if (parents.row(l).empty()) top_.push_back(static_cast<std::int32_t>(l));
        }
    }

    /// Appends the labels of the best set of a row in increasing order.
    void choose(const RowScores& scores, std::vector<std::int32_t>& found) {
        const auto [total, largest] = sum_and_largest(scores);
        if (!(largest > 0)) return;
        const auto row = scores.all;
        // Most rows are settled by the labels that are not far below the most probable one.
        above_ = std::numeric_limits<double>::infinity();
        collect(scores, largest / 8);
        order_.clear();
        double others = log_of_none(row);  // log of the probability that no other label is right
        double all = 1.0;                  // probability that all labels of the set are right
        double best = may_be_empty_ ? 2 * std::exp(others) : -1.0;
        std::size_t size = 0;
        double sum = 0.0;
        while (true) {
            if (heap_.empty()) {
                if (cut_ == 0) break;
                collect(scores, 0.0);
                if (heap_.empty()) break;
            }
            const std::int32_t label = pop(row);
            order_.push_back(label);
            sum += row[label];
            const double own = conditional(row, label);
            all *= own;
            const double f1 = 2 * sum / (static_cast<double>(order_.size()) + total);
            double gain = f1;
            if (all >= negligible) {
                others += change_of_others(row, label, own);
                gain += all * std::exp(others);
            }
            if (gain > best) {
                best = gain;
                size = order_.size();
            }
            // From here on, F falls, and the probability of a set is at most that of all its
            // labels.
            const double next = heap_.empty() ? cut_ : row[heap_.front()];
            if (2 * next <= f1 && f1 + std::min(all, next) <= best) break;
        }
        for (const std::int32_t label : order_) taken_[label] = 0;
        std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(size));
        found.insert(found.end(), order_.begin(),
                     order_.begin() + static_cast<std::ptrdiff_t>(size));
    }

  private:
    /// Puts the labels on the heap that reach the cut and were not there yet.
    void collect(const RowScores& scores, double cut) {
        heap_.clear();
        const auto row = scores.all;
        scores.for_each([&](std::size_t l) {
            if (row[l] > 0 && row[l] >= cut && row[l] < above_) {
                heap_.push_back(static_cast<std::int32_t>(l));
            }
        });
        above_ = cut_ = cut;
        std::make_heap(heap_.begin(), heap_.end(), Later{row});
    }

    std::int32_t pop(std::span<const double> row) {
        std::pop_heap(heap_.begin(), heap_.end(), Later{row});
        const std::int32_t label = heap_.back();
        heap_.pop_back();
        return label;
    }

    struct Later {
        std::span<const double> row;
        bool operator()(std::int32_t a, std::int32_t b) const {
            return row[a] < row[b] || (row[a] == row[b] && a > b);
        }
    };

    /// The probability of a label given its parents.
    double conditional(std::span<const double> row, std::int32_t label) const {
        double above = 1.0;
        for (const std::int32_t parent : parents_.row(static_cast<std::size_t>(label))) {
            above = std::min(above, row[parent]);
        }
        return above > 0 ? std::min(row[label] / above, almost_certain) : 0.0;
    }

    double log_of_none(std::span<const double> row) const {
        double sum = 0.0;
        double product = 1.0;
        for (const std::int32_t label : top_) {
            product = times(product, 1 - std::min(row[label], almost_certain), sum);
        }
        return sum + std::log(product);
    }

    /// Multiplies numbers; moves the logarithm of a product that is nearly 0 to `sum`.
    static double times(double product, double factor, double& sum) {
        product *= factor;
        if (product > nearly_zero) return product;
        sum += std::log(product);
        return 1.0;
    }

    /// Adds a label whose parents are in the set: the change of the logarithm of the probability
    /// that no other label is right, given those of the set.
    double change_of_others(std::span<const double> row, std::int32_t label, double own) {
        taken_[label] = 1;
        double change = 0.0;
        double product = 1.0;
        for (const std::int32_t child : children_.row(static_cast<std::size_t>(label))) {
            if (!(row[child] > 0)) continue;
            const auto parents = parents_.row(static_cast<std::size_t>(child));
            const bool may_be = std::all_of(parents.begin(), parents.end(),
                                            [&](std::int32_t p) { return taken_[p] != 0; });
            if (may_be) product = times(product, 1 - conditional(row, child), change);
        }
        return change + std::log(product) - std::log1p(-own);
    }

    SparseRowsView parents_;
    SparseRowsView children_;
    bool may_be_empty_;
    std::vector<char> taken_;
    std::vector<std::int32_t> top_;
    std::vector<std::int32_t> heap_;
    std::vector<std::int32_t> order_;
    double cut_ = 0.0;    // smaller ones are not on the heap yet
    double above_ = 0.0;  // larger ones have been on the heap
};

/// Calls write(thread, part, row, scores of the row) for all rows.
template <typename Write>
void for_each_row(const ScoreRows& scores, std::size_t n_labels, unsigned n_threads,
                  StopSignal& signal, Write write) {
    const std::size_t n_rows = scores.n_rows(n_labels);
    const std::size_t n_parts = (n_rows + rows_at_a_time - 1) / rows_at_a_time;
    const CsrView* sparse = scores.sparse;
    const std::vector<double> zeros(sparse != nullptr ? n_labels : 0, 0.0);
    std::vector<std::vector<double>> spread(std::max(1u, n_threads), zeros);
    parallel_for(n_threads, n_parts, signal, [&](unsigned thread, std::size_t part) {
        signal.check();
        const std::size_t last = std::min(n_rows, (part + 1) * rows_at_a_time);
        for (std::size_t r = part * rows_at_a_time; r < last; ++r) {
            if (sparse == nullptr) {
                write(thread, part, r,
                      RowScores{scores.dense.subspan(r * n_labels, n_labels), {}, false});
                continue;
            }
            auto& row = spread[thread];
            const auto begin = static_cast<std::size_t>(sparse->indptr[r]);
            const auto end = static_cast<std::size_t>(sparse->indptr[r + 1]);
            for (auto k = begin; k < end; ++k) row[sparse->indices[k]] = sparse->data[k];
            const auto listed = sparse->indices.subspan(begin, end - begin);
            write(thread, part, r, RowScores{row, listed, true});
            for (const auto l : listed) row[l] = 0.0;
        }
    });
}

/// The probabilities of paths in a row; owned by a thread.
class EndChooser {
  public:
    EndChooser(SparseRowsView parents, std::span<const std::uint8_t> ends)
        : parents_(parents), ends_(ends), path_(parents.n_rows()), stop_(parents.n_rows()) {}

    /// `above`: the ancestors of labels with several parents; `size`: the lengths of paths.
    std::int32_t choose(std::span<const double> row, SparseRowsView above,
                        std::span<const double> size) {
        double total = 0.0;
        for (std::size_t l = 0; l < row.size(); ++l) {
            const auto direct = parents_.row(l);
            path_[l] = stop_[l] = row[l];
            total += row[l];
            for (const std::int32_t parent : direct) stop_[parent] -= row[l];
            if (direct.size() == 1) {
                path_[l] += path_[direct[0]];
            } else if (direct.size() > 1) {
                for (const std::int32_t a : above.row(l)) path_[l] += row[a];
            }
        }
        double best = -1.0;
        std::int32_t chosen = 0;
        for (std::size_t l = 0; l < row.size(); ++l) {
            if (ends_[l] == 0) continue;
            const double gain = 2 * path_[l] / (size[l] + total) + std::max(0.0, stop_[l]);
            if (gain > best) {
                best = gain;
                chosen = static_cast<std::int32_t>(l);
            }
        }
        return chosen;
    }

  private:
    SparseRowsView parents_;
    std::span<const std::uint8_t> ends_;
    std::vector<double> path_;  // sum over a label and its ancestors
    std::vector<double> stop_;  // probability of ending at a label
};

}  // namespace

SparseRows best_label_sets(const ScoreRows& scores, SparseRowsView parents, bool may_be_empty,
                           unsigned n_threads, StopSignal& signal) {
    const std::size_t n_labels = parents.n_rows();
    const std::size_t n_rows = scores.n_rows(n_labels);
    const SparseRows children = children_of(parents);
    std::vector<SetChooser> choosers(
        std::max(1u, n_threads),
        SetChooser(parents, {children.indptr, children.indices}, may_be_empty));
    std::vector<std::vector<std::int32_t>> labels((n_rows + rows_at_a_time - 1) / rows_at_a_time);
    SparseRows sets;
    sets.indptr.assign(n_rows + 1, 0);
    for_each_row(scores, n_labels, n_threads, signal,
                 [&](unsigned thread, std::size_t part, std::size_t r, const auto& row) {
                     const std::size_t before = labels[part].size();
                     choosers[thread].choose(row, labels[part]);
                     sets.indptr[r + 1] = static_cast<std::int64_t>(labels[part].size() - before);
                 });
    for (std::size_t r = 0; r < n_rows; ++r) sets.indptr[r + 1] += sets.indptr[r];
    sets.indices.reserve(static_cast<std::size_t>(sets.indptr.back()));
    for (const auto& part : labels) {
        sets.indices.insert(sets.indices.end(), part.begin(), part.end());
    }
    return sets;
}

void best_ends(const ScoreRows& scores, SparseRowsView parents, std::span<const std::uint8_t> ends,
               unsigned n_threads, StopSignal& signal, std::span<std::int32_t> chosen) {
    const std::size_t n_labels = parents.n_rows();
    std::vector<double> size(n_labels, 1.0);
    SparseRows above;
    for (std::size_t l = 0; l < n_labels; ++l) {
        const auto direct = parents.row(l);
        if (direct.size() == 1) size[l] += size[direct[0]];
        if (direct.size() > 1) {
            if (above.indptr.empty()) {
                above = ancestors(parents, std::numeric_limits<std::int32_t>::max(), signal);
            }
            size[l] += static_cast<double>(above.indptr[l + 1] - above.indptr[l]);
        }
    }
    std::vector<EndChooser> choosers(std::max(1u, n_threads), EndChooser(parents, ends));
    for_each_row(scores, n_labels, n_threads, signal,
                 [&](unsigned thread, std::size_t, std::size_t r, const auto& row) {
                     chosen[r] =
                         choosers[thread].choose(row.all, {above.indptr, above.indices}, size);
                 });
}

}  // namespace ramify
