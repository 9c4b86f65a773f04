// Binds core/linear: linear models of classes or labels, and their probabilities.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "common/parallel.hpp"
#include "init.hpp"
#include "linear/predict.hpp"
#include "linear/train.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

/// work(X) for sparse X.
template <typename Work>
auto with_sparse(const Rows& X, const Work& work) {
    return X.visit([&](const auto& rows) -> decltype(work(std::declval<const CsrView&>())) {
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, CsrView>) {
            return work(rows);
        } else {
            throw std::invalid_argument("X must be sparse");
        }
    });
}

nb::typed<nb::dict, nb::str, nb::object> train(const Rows& X, const Vector<std::int64_t>& chosen,
                                               const Vector<std::int64_t>& indptr,
                                               const Vector<std::int32_t>& positives,
                                               const Vector<double>& weights, bool exclusive,
                                               double cost, double tolerance, int max_epochs,
                                               double least_weight, std::uint64_t seed,
                                               unsigned n_threads) {
    const std::size_t n = chosen.size();
    require(n > 0 && n < 0x7FFFFFFFu, "chosen must have some rows");
    require(std::ranges::all_of(
                view(chosen),
                [&](auto r) { return r >= 0 && static_cast<std::size_t>(r) < X.n_rows(); }),
            "chosen must be rows of X");
    require(indptr.size() > 1, "positives must have some outputs");
    check_compressed(view(indptr), view(positives), n);
    require(weights.size() == n, "weights must have one number per chosen row");
    require(std::ranges::all_of(view(weights), [](double w) { return w > 0 && std::isfinite(w); }),
            "weights must be positive");
    require(cost > 0 && std::isfinite(cost), "cost must be positive");
    require(!exclusive || positives.size() == n, "every row must have one output");
    const LinearProblem problem{
        view(chosen), {view(indptr), view(positives)}, view(weights), exclusive};
    const LinearOptions options{
        cost, {tolerance, max_epochs}, least_weight, seed, std::max(1u, n_threads)};
    StopSignal signal(interrupted_by(nullptr));
    LinearModel model = with_sparse(X, [&](const CsrView& rows) {
        return stoppable([&] { return train_linear(rows, problem, options, signal); });
    });
    nb::typed<nb::dict, nb::str, nb::object> found;
    found["features"] = to_numpy(std::move(model.features));
    found["indptr"] = to_numpy(std::move(model.indptr));
    found["outputs"] = to_numpy(std::move(model.outputs));
    found["weights"] = to_numpy(std::move(model.weights));
    found["intercepts"] = to_numpy(std::move(model.intercepts));
    std::vector<double> scales;
    std::vector<double> offsets;
    for (const auto& link : model.links) {
        scales.push_back(link.scale);
        offsets.push_back(link.offset);
    }
    found["scales"] = to_numpy(std::move(scales));
    found["offsets"] = to_numpy(std::move(offsets));
    return found;
}

/// Weights of models; the numpy arrays are kept alive, not copied.
class BorrowedWeights {
  public:
    BorrowedWeights(Vector<std::int32_t> features, Vector<std::int64_t> indptr,
                    Vector<std::int32_t> outputs, Vector<float> weights, Vector<float> intercepts,
                    Vector<double> scales, Vector<double> offsets, Vector<std::int64_t> models,
                    Vector<std::uint8_t> exclusive)
        : features_(std::move(features)),
          indptr_(std::move(indptr)),
          outputs_(std::move(outputs)),
          weights_(std::move(weights)),
          intercepts_(std::move(intercepts)),
          scales_(std::move(scales)),
          offsets_(std::move(offsets)),
          models_(std::move(models)),
          exclusive_(std::move(exclusive)) {
        const auto own = view(features_);
        require(intercepts_.size() > 0, "a model must have an output");
        require(own.empty() || own.front() >= 0, "features must not be negative");
        require(std::ranges::adjacent_find(own, std::greater_equal<>()) == own.end(),
                "features must increase");
        require(indptr_.size() == own.size() + 1, "indptr must have a place for every feature");
        check_compressed(view(indptr_), view(outputs_), intercepts_.size());
        require(scales_.size() == intercepts_.size() && offsets_.size() == intercepts_.size(),
                "scales and offsets must have one number per output");
        require(weights_.size() == outputs_.size(), "weights and outputs must have one length");
        const auto starts = view(models_);
        require(starts.size() == exclusive_.size() + 1, "exclusive must have one flag per model");
        require(starts.front() == 0 &&
                    static_cast<std::size_t>(starts.back()) == intercepts_.size() &&
                    std::ranges::adjacent_find(starts, std::greater_equal<>()) == starts.end(),
                "models must divide the outputs");
    }

    void predict(const Rows& X, unsigned n_threads, OutMatrix out) const {
        const auto own = view(features_);
        require(own.empty() || static_cast<std::size_t>(own.back()) < X.n_columns(),
                "X has fewer columns than the model reads");
        require(out.shape(0) == X.n_rows() && out.shape(1) == intercepts_.size(),
                "out must have a column for every output");
        const LinearWeights all{
            own,           view(indptr_),  view(outputs_), view(weights_),  view(intercepts_),
            view(scales_), view(offsets_), view(models_),  view(exclusive_)};
        StopSignal signal(interrupted_by(nullptr));
        with_sparse(X, [&](const CsrView& rows) {
            stoppable([&] {
                predict_linear(all, rows, std::max(1u, n_threads), signal,
                               std::span<double>(out.data(), out.size()));
            });
        });
    }

  private:
    Vector<std::int32_t> features_;
    Vector<std::int64_t> indptr_;
    Vector<std::int32_t> outputs_;
    Vector<float> weights_;
    Vector<float> intercepts_;
    Vector<double> scales_;
    Vector<double> offsets_;
    Vector<std::int64_t> models_;
    Vector<std::uint8_t> exclusive_;
};

}  // namespace

void init_linear(nb::module_& m) {
    m.def("train_linear", &train, nb::arg("X"), nb::arg("chosen"), nb::arg("indptr"),
          nb::arg("positives"), nb::arg("weights"), nb::arg("exclusive"), nb::arg("cost"),
          nb::arg("tolerance"), nb::arg("max_epochs"), nb::arg("least_weight"), nb::arg("seed"),
          nb::arg("n_threads"), "Learn one linear model per output, each against all other rows.");
    nb::class_<BorrowedWeights>(m, "LinearWeights", "The weights of linear models.")
        .def(nb::init<Vector<std::int32_t>, Vector<std::int64_t>, Vector<std::int32_t>,
                      Vector<float>, Vector<float>, Vector<double>, Vector<double>,
                      Vector<std::int64_t>, Vector<std::uint8_t>>(),
             nb::arg("features"), nb::arg("indptr"), nb::arg("outputs"), nb::arg("weights"),
             nb::arg("intercepts"), nb::arg("scales"), nb::arg("offsets"), nb::arg("models"),
             nb::arg("exclusive"))
        .def("predict", &BorrowedWeights::predict, nb::arg("X"), nb::arg("n_threads"),
             nb::arg("out"), "Write the probability of every output for every row.");
}

}  // namespace ramify::bindings
