#include "linear/train.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

namespace ramify {

namespace {

constexpr std::size_t held_out_cells = 4'000'000;
constexpr std::size_t least_held_out = 500;
// What the estimates are checked with: outputs, and rows, a tenth of all at a time, or up to a
// fifth of a few.
constexpr std::size_t checked_outputs = 16;
constexpr std::size_t checked_rows = 30;

/// The weights of an output that are not dropped.
struct Column {
    std::vector<std::int32_t> places;
    std::vector<float> weights;
    float intercept = 0;
};

/// The rows whose margins decide the link, and their margins by models fitted without them.
///
/// These are estimated for every row. Of some rows and outputs, they are also computed, by going
/// on without a part of the rows; this tells by which factor all estimates of an influence are
/// wrong. Usually they are too large: columns that go together share what each seems to have
/// alone.
class HeldOut {
  public:
    HeldOut(const LinearProblem& problem, const LinearOptions& options)
        : problem_(problem),
          options_(options),
          n_outputs_(problem.positives.n_rows()),
          sums_(n_outputs_) {
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
        SplitMix random(options.seed);
        for (std::size_t i = 0; i < std::min(wanted, rows_.size()); ++i) {
            const auto left = static_cast<std::uint32_t>(rows_.size() - i);
            std::swap(rows_[i], rows_[i + random.below(left)]);
        }
        rows_.resize(std::min(rows_.size(), wanted));
        margins_.resize(rows_.size() * n_outputs_);
        moves_.resize(margins_.size());
    }

    void write(std::size_t output, const LinearSolver& solver, std::span<const std::int8_t> signs,
               StopSignal& signal) {
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const std::size_t row = rows_[r];
            const double move = signs[row] * solver.influence(row, share_left_out(row));
            margins_[r * n_outputs_ + output] = static_cast<float>(solver.margin(row));
            moves_[r * n_outputs_ + output] = static_cast<float>(move);
        }
        const std::size_t every = (n_outputs_ + checked_outputs - 1) / checked_outputs;
        if (output % every == 0) check(output, solver, signs, signal);
    }

    std::vector<LinearLink> find_links() {
        move_margins();
        const LinearProblem& problem = problem_;
        std::vector<double> weights(rows_.size());
        for (std::size_t r = 0; r < rows_.size(); ++r) weights[r] = problem.weights[rows_[r]];
        const HeldOutMargins held_out{margins_, n_outputs_, weights};
        if (problem.exclusive) {
            std::vector<std::int32_t> truth(rows_.size());
            for (std::size_t r = 0; r < rows_.size(); ++r) truth[r] = classes_[rows_[r]];
            return link_classes(held_out, truth);
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
    struct Sums {
        double products = 0;  // of estimated and computed moves
        double squares = 0;   // of estimated moves
    };

    void check(std::size_t output, const LinearSolver& solver, std::span<const std::int8_t> signs,
               StopSignal& signal) {
        const LinearStopping roughly{3 * options_.stopping.tolerance,
                                     options_.stopping.max_epochs};
        const std::size_t n = rows_.size();
        const std::size_t size = std::max((n + 9) / 10, std::min<std::size_t>((n + 4) / 5, 10));
        const std::size_t end = std::min(n, std::max(size, checked_rows));
        for (std::size_t start = 0; start < end; start += size) {
            const auto fold = std::span(rows_).subspan(start, std::min(size, n - start));
            std::vector<double> weights(problem_.weights.begin(), problem_.weights.end());
            for (const std::size_t row : fold) weights[row] *= 1 - share_left_out(row);
            LinearSolver rest = solver;
            rest.reduce(weights, roughly, SplitMix(mix(options_.seed) + start), signal);
            for (const std::size_t row : fold) {
                const double estimate = solver.influence(row, share_left_out(row));
                const double move = signs[row] * (solver.margin(row) - rest.margin(row));
                sums_[output].products += problem_.weights[row] * estimate * move;
                sums_[output].squares += problem_.weights[row] * estimate * estimate;
            }
        }
    }

    /// Of a row that weighs more than 1, one of the rows that it stands for is left out.
    double share_left_out(std::size_t row) const {
        return std::min(1.0, 1 / problem_.weights[row]);
    }

    void move_margins() {
        Sums all;
        for (const auto& own : sums_) {
            all.products += own.products;
            all.squares += own.squares;
        }
        const double factor = all.squares > 0 ? std::max(0.0, all.products / all.squares) : 0;
        for (std::size_t k = 0; k < margins_.size(); ++k) {
            margins_[k] -= static_cast<float>(factor) * moves_[k];
        }
    }

    const LinearProblem& problem_;
    const LinearOptions& options_;
    std::size_t n_outputs_;
    std::vector<std::int32_t> classes_;
    std::vector<std::size_t> rows_;
    std::vector<float> margins_;  // until find_links, of the model that knows all rows
    std::vector<float> moves_;    // estimates of how far they move if a row is left out
    std::vector<Sums> sums_;      // of each output
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
    HeldOut held_out(problem, options);
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
        held_out.write(k, worker->solver, worker->signs, signal);
        columns[k] = column_of(worker->solver, options.least_weight);
    });
    LinearModel model = join(rows, columns);
    model.links = held_out.find_links();
    for (std::size_t k = 0; problem.exclusive && k < n_outputs; ++k) {
        auto& link = model.links[k];  // only labels keep an offset
        model.intercepts[k] += static_cast<float>(link.offset / link.scale);
        link.offset = 0;
    }
    return model;
}

}  // namespace ramify
