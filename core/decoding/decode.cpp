#include "decoding/decode.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "decoding/exact.hpp"
#include "decoding/greedy.hpp"

namespace ramify {

namespace {

constexpr std::size_t rows_per_part = 4 * abreast;

/// Decodes rows in one thread; the solvers own their scratch memory.
class RowDecoder {
  public:
    RowDecoder(const LeafGraph& graph, const DecodingPlan& plan)
        : plan_(plan),
          n_labels_(graph.n_labels()),
          width_(row_width(graph, plan.values)),
          row_(n_labels_),
          chosen_(n_labels_),
          make_weights_(graph, plan.values, plan.slope, plan.offset) {
        if (plan.solver == Solver::greedy) {
            greedy_.emplace(graph);
        } else {
            best_.emplace(graph);
            knapsack_.emplace(graph);
        }
    }

    /// Decodes up to `abreast` rows and appends their labels.
    void operator()(std::size_t first, std::size_t n_rows, SparseRows& sets) {
        const auto weights = make_weights_(plan_.rows.subspan(first * width_, n_rows * width_));
        const auto counts = plan_.k.subspan(first, n_rows);
        if (best_ && std::count(counts.begin(), counts.end(), 0) > 0) best_->evaluate(weights);
        for (std::size_t t = 0; t < n_rows; ++t) {
            if (best_ && counts[t] == 0) {
                best_->choose(t, chosen_);
            } else {
                decode_row(weights, t, counts[t]);
            }
            append(sets);
        }
    }

  private:
    void decode_row(std::span<const double> weights, std::size_t t, std::int32_t k) {
        for (std::size_t label = 0; label < n_labels_; ++label) {
            row_[label] = weights[label * abreast + t];
        }
        if (greedy_) {
            greedy_->solve(row_, k, chosen_);
        } else {
            knapsack_->solve(row_, k, chosen_);
        }
    }

    void append(SparseRows& sets) {
        const char* const begin = chosen_.data();
        const char* const end = begin + n_labels_;
        for (const char* at = begin; at < end; ++at) {
            at = static_cast<const char*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
            if (at == nullptr) break;
            sets.indices.push_back(static_cast<std::int32_t>(at - begin));
        }
        sets.indptr.push_back(static_cast<std::int64_t>(sets.indices.size()));
    }

    const DecodingPlan& plan_;
    std::size_t n_labels_;
    std::size_t width_;
    std::vector<double> row_;
    std::vector<char> chosen_;
    WeightMaker make_weights_;
    std::optional<GreedyDecoder> greedy_;
    std::optional<BestTreeSets> best_;
    std::optional<TreeKnapsack> knapsack_;
};

SparseRows joined(const std::vector<SparseRows>& parts) {
    SparseRows all;
    all.indptr.push_back(0);
    for (const auto& part : parts) {
        const auto before = static_cast<std::int64_t>(all.indices.size());
        for (const std::int64_t end : part.indptr) all.indptr.push_back(before + end);
        all.indices.insert(all.indices.end(), part.indices.begin(), part.indices.end());
    }
    return all;
}

}  // namespace

SparseRows decode(const LeafGraph& graph, const DecodingPlan& plan, unsigned n_threads,
                  std::function<bool()> stop) {
    const std::size_t n_rows = plan.k.size();
    std::vector<SparseRows> parts((n_rows + rows_per_part - 1) / rows_per_part);
    std::vector<std::optional<RowDecoder>> decoders(std::max(1u, n_threads));
    StopSignal signal(std::move(stop));
    parallel_for(n_threads, parts.size(), signal, [&](unsigned thread, std::size_t part) {
        auto& decoder = decoders[thread];
        if (!decoder) decoder.emplace(graph, plan);
        const std::size_t last = std::min(n_rows, (part + 1) * rows_per_part);
        for (std::size_t row = part * rows_per_part; row < last; row += abreast) {
            signal.check();
            (*decoder)(row, std::min(abreast, last - row), parts[part]);
        }
    });
    return joined(parts);
}

}  // namespace ramify
