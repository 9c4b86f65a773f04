#include "linear/train.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

namespace ramify {

namespace {

constexpr std::size_t held_out_cells = 4'000'000;
constexpr std::size_t least_held_out = 500;

/// The weights of an output that are not dropped.
struct Column {
    std::vector<std::int32_t> places;
    std::vector<float> weights;
    float intercept = 0;
};

/// The rows whose margins decide the link, and their margins.
class HeldOut {
  public:
    HeldOut(const LinearProblem& problem, std::uint64_t seed)
        : n_outputs_(problem.positives.n_rows()) {
        const std::size_t n = problem.chosen.size();
        if (problem.exclusive) {
            classes_.assign(n, 0);
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                const auto rows = problem.positives.row(k);
                for (const auto row : rows) {
                    const auto i = static_cast<std::size_t>(row);
                    // Without its only row, a class would not exist.
                    const bool remains = rows.size() > 1 || problem.weights[i] > 1;
                    classes_[i] = remains ? static_cast<std::int32_t>(k) : -1;
                }
            }
        }
        rows_.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            if (!problem.exclusive || classes_[i] >= 0) rows_.push_back(i);
        }
        const std::size_t wanted = std::max(least_held_out, held_out_cells / n_outputs_);
        SplitMix random(seed);
        for (std::size_t i = 0; wanted < rows_.size() && i < wanted; ++i) {
            const auto left = static_cast<std::uint32_t>(rows_.size() - i);
            std::swap(rows_[i], rows_[i + random.below(left)]);
        }
        rows_.resize(std::min(rows_.size(), wanted));
        margins_.resize(rows_.size() * n_outputs_);
    }

    void write(std::size_t output, const LinearSolver& solver) {
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            margins_[r * n_outputs_ + output] =
                static_cast<float>(solver.margin_without(rows_[r]));
        }
    }

    std::vector<LinearLink> find_links(const LinearProblem& problem) const {
        std::vector<double> weights(rows_.size());
        for (std::size_t r = 0; r < rows_.size(); ++r) weights[r] = problem.weights[rows_[r]];
        const HeldOutMargins held_out{margins_, n_outputs_, weights};
        if (problem.exclusive) {
            std::vector<std::int32_t> truth(rows_.size());
            for (std::size_t r = 0; r < rows_.size(); ++r) truth[r] = classes_[rows_[r]];
            return std::vector<LinearLink>(n_outputs_, link_classes(held_out, truth));
        }
        std::vector<std::uint8_t> truth(margins_.size());
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const auto positive = problem.positives.row(k);
            for (std::size_t r = 0; r < rows_.size(); ++r) {
                truth[r * n_outputs_ + k] =
                    std::ranges::binary_search(positive, static_cast<std::int32_t>(rows_[r]));
            }
        }
        return link_labels(held_out, truth);
    }

  private:
    std::size_t n_outputs_;
    std::vector<std::int32_t> classes_;
    std::vector<std::size_t> rows_;
    std::vector<float> margins_;
};

Column column_of(const LinearSolver& solver, double least_weight) {
    Column found;
    const auto weights = solver.weights();
    for (std::size_t j = 0; j < weights.size(); ++j) {
        if (std::abs(weights[j]) < least_weight || weights[j] == 0) continue;
        found.places.push_back(static_cast<std::int32_t>(j));
        found.weights.push_back(static_cast<float>(weights[j]));
    }
    found.intercept = static_cast<float>(solver.intercept());
    return found;
}

/// Puts the columns side by side, by feature.
LinearModel join(const LinearRows& rows, const std::vector<Column>& columns) {
    LinearModel model;
    std::vector<std::int64_t> counts(rows.features.size(), 0);
    for (const auto& column : columns) {
        for (const auto place : column.places) ++counts[static_cast<std::size_t>(place)];
    }
    std::vector<std::int64_t> next(counts.size(), -1);
    model.indptr.push_back(0);
    for (std::size_t j = 0; j < counts.size(); ++j) {
        if (counts[j] == 0) continue;
        next[j] = model.indptr.back();
        model.features.push_back(rows.features[j]);
        model.indptr.push_back(model.indptr.back() + counts[j]);
    }
    model.outputs.resize(static_cast<std::size_t>(model.indptr.back()));
    model.weights.resize(model.outputs.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
        for (std::size_t c = 0; c < columns[k].places.size(); ++c) {
            const auto at =
                static_cast<std::size_t>(next[static_cast<std::size_t>(columns[k].places[c])]++);
            model.outputs[at] = static_cast<std::int32_t>(k);
            model.weights[at] = columns[k].weights[c];
        }
        model.intercepts.push_back(columns[k].intercept);
    }
    return model;
}

}  // namespace

LinearModel train_linear(const CsrView& X, const LinearProblem& problem,
                         const LinearOptions& options, StopSignal& signal) {
    const LinearRows rows(X, problem.chosen);
    const std::size_t n_outputs = problem.positives.n_rows();
    HeldOut held_out(problem, options.seed);
    std::vector<Column> columns(n_outputs);
    struct Worker {
        LinearSolver solver;
        std::vector<std::int8_t> signs;
    };
    std::vector<std::unique_ptr<Worker>> workers(options.n_threads);
    parallel_for(options.n_threads, n_outputs, signal, [&](unsigned thread, std::size_t k) {
        auto& worker = workers[thread];
        if (!worker) {
            worker = std::make_unique<Worker>(
                Worker{LinearSolver(rows, options.cost, problem.weights), {}});
        }
        worker->signs.assign(rows.n_rows(), -1);
        for (const auto row : problem.positives.row(k)) {
            worker->signs[static_cast<std::size_t>(row)] = 1;
        }
        worker->solver.solve(worker->signs, options.stopping, SplitMix(mix(options.seed) + k),
                             signal);
        worker->solver.measure_leverage();
        held_out.write(k, worker->solver);
        columns[k] = column_of(worker->solver, options.least_weight);
    });
    LinearModel model = join(rows, columns);
    model.links = held_out.find_links(problem);
    return model;
}

}  // namespace ramify
