// Grows the structure of one tree from the sketched gradients of its rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/histograms.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/records.hpp"
#include "gradient_boosting/splitting.hpp"

namespace ramify {

/// A node of a grown tree: its test, and the range of its rows.
struct GrownNode {
    BinSplit split;
    std::int32_t yes = -1;  // children; -1: a leaf
    std::int32_t no = -1;
    std::size_t begin = 0;
    std::size_t end = 0;
    double weight = 0;
    std::size_t side = 0;  // which of the grower's two lists has its rows

    bool is_leaf() const { return yes < 0; }
};

struct GrownTree {
    std::vector<GrownNode> nodes;     // node 0 is the root; children come after their parents
    std::vector<std::uint32_t> rows;  // the rows of each leaf, increasing within a leaf
};

/// Weights of all rows.
struct RowWeights {
    std::span<const float> of_row;
    bool equal;  // those that learn have the same weight

    RowWeights(std::span<const float> weights, std::span<const std::uint32_t> learning);
    double sum(std::span<const std::uint32_t> rows) const;
};

class TreeGrower {
  public:
    /// `n_few`: how many outputs there are if the search is to use records of them, else 0.
    TreeGrower(const BinnedData& data, const GradientBoostingOptions& options, std::size_t width,
               std::size_t n_few, const RowWeights& weights);
    ~TreeGrower();

    /// Where to write the records of the rows of the next tree, in their order.
    std::span<float> records(std::size_t n_rows);

    /// Grows a tree. `features`: the features it may test, increasing. `rows`: increasing.
    /// `sketch`: of all rows; not used with records.
    GrownTree grow(std::span<const std::int32_t> features, std::vector<std::uint32_t> rows,
                   const float* sketch, StopSignal& signal);

  private:
    struct OpenNode;
    struct Family;
    struct Task;
    struct NodePart;
    struct CountedPart;
    class Search;

    void choose_features(std::span<const std::int32_t> features);
    std::unique_ptr<Histograms> take_histograms();
    bool can_split(const OpenNode& node) const;
    unsigned threads_for(std::size_t n_rows) const;
    void find_totals(std::vector<Family>& families, StopSignal& signal) const;
    void add_part(const OpenNode& node, std::size_t begin, std::size_t n, float* sums) const;
    void evaluate(std::vector<Family>& families, StopSignal& signal);
    void keep_histograms(Family& family);
    void list_tasks(std::size_t number, Family& family, std::vector<Task>& tasks) const;
    void search_tasks(std::span<const Task> tasks, std::vector<Family>& families,
                      StopSignal& signal);
    void run_in_turns(std::span<const Task> tasks, std::vector<Family>& families,
                      StopSignal& signal);
    void count_families(std::span<Family> families, StopSignal& signal);
    void count_parts(std::span<const CountedPart> parts, StopSignal& signal);
    void run(const Task& task, unsigned thread, Family& family);
    void search_dense(std::size_t i, Family& family, Search& search, BinSplit* found);
    void test_part(NodePart& part);
    void move_part(const NodePart& part);
    std::vector<std::size_t> divide_rows(std::span<const OpenNode> nodes, StopSignal& signal);
    std::vector<Family> divide(std::vector<OpenNode> nodes, StopSignal& signal);
    Family make_family(OpenNode parent, std::size_t middle);
    std::span<const std::uint32_t> row_numbers(const OpenNode& node) const;
    SketchedRows rows_of(const OpenNode& node) const;
    GrownTree finish();

    const BinnedData& data_;
    const GradientBoostingOptions& options_;
    std::size_t width_;
    std::size_t n_few_;
    RowWeights weights_;
    std::optional<BinRows> bin_rows_;
    std::vector<RecordSums> counted_;                 // of parts of nodes
    std::vector<std::int32_t> dense_;                 // dense features of this tree
    std::vector<std::size_t> first_bin_;              // of each, in Histograms
    std::vector<std::vector<std::uint32_t>> places_;  // per group: sparse features of this tree
    std::vector<std::unique_ptr<Histograms>> free_;   // to be used again
    std::size_t bytes_in_use_ = 0;
    std::vector<GrownNode> nodes_;
    // Rows of nodes, and their records. The rows of a node are in one of the two, those of its
    // children in the other.
    std::array<std::vector<std::uint32_t>, 2> rows_;
    std::array<std::vector<float>, 2> records_;
    std::vector<std::uint8_t> passes_;  // whether rows pass the test of their node
    const float* sketch_ = nullptr;
    std::vector<std::unique_ptr<Search>> searches_;  // per thread
};

}  // namespace ramify
