#include "gradient_boosting/growing.hpp"

#include <algorithm>
#include <utility>

#include "gradient_boosting/tasks.hpp"
#include "gradient_boosting/vectors.hpp"

namespace ramify {

namespace {

// Histograms of a node are kept for its children as long as they take no more than this in total.
constexpr std::size_t max_kept_bytes = std::size_t{1} << 28;
// A node with few rows is as quick to count as to subtract.
constexpr std::size_t min_kept_rows = 256;
// Rows from which a task has only one dense feature, and operations on vectors below which threads
// are not worth starting.
constexpr std::size_t min_rows_per_feature = 8192;
constexpr std::size_t min_shared_vectors = 20'000;
// Rows whose vectors are summed before they are added to the total: rounding errors do not grow
// with the number of rows, and the sum does not depend on the number of threads.
constexpr std::size_t rows_per_sum = 1024;
// Rows that a task divides, and rows of a level below which threads are not worth starting.
constexpr std::size_t node_rows_per_task = 8192;
constexpr std::size_t min_shared_rows = 65'536;
// Histograms that are not kept, and sums of records that wait to be added to them, take no more
// than this, or as much as one family and one part.
constexpr std::size_t max_passing_bytes = std::size_t{1} << 26;

}  // namespace

struct TreeGrower::OpenNode {
    std::size_t number = 0;  // in the tree
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
    double weight = 0;
    std::vector<float> sums;
    BinSplit best;
    std::size_t side = 0;                    // which of the grower's lists has its rows
    std::unique_ptr<Histograms> histograms;  // of the dense features, if kept
    std::unique_ptr<Histograms> passing;     // from records, if not kept

    std::size_t n_rows() const { return end - begin; }
    NodeTotal total() const { return {sums.data(), static_cast<std::uint32_t>(n_rows()), weight}; }
};

/// Two children with the histograms of their parent, or the root alone.
struct TreeGrower::Family {
    std::vector<OpenNode> members;       // the one with fewer rows first
    std::unique_ptr<Histograms> parent;  // may be null; becomes that of the last member
    std::vector<bool> wanted;            // per member: whether it may be split
    std::vector<BinSplit> found;         // per task and member
};

/// Some dense features, or one group of sparse ones.
struct TreeGrower::Task {
    std::size_t family;
    std::size_t slot;  // in found
    std::int32_t group = -1;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Some rows of a node that are counted together.
struct TreeGrower::CountedPart {
    const OpenNode* node;
    std::size_t begin;
    std::size_t end;
};

/// The buffers of one thread.
class TreeGrower::Search {
  public:
    explicit Search(const CutRules& rules) : finder(rules) {}
    SplitFinder finder;
    Histograms scratch;
    SparseHistograms sparse;
};

RowWeights::RowWeights(std::span<const float> weights, std::span<const std::uint32_t> learning)
    : of_row(weights), equal(std::ranges::all_of(learning, [&](auto row) {
          return weights[row] == weights[learning.front()];
      })) {}

/// Sums of equal weights are exact, as is the product.
double RowWeights::sum(std::span<const std::uint32_t> rows) const {
    if (rows.empty()) return 0;
    if (equal) {
        return static_cast<double>(rows.size()) * static_cast<double>(of_row[rows.front()]);
    }
    double sum = 0;
    for (const auto row : rows) sum += static_cast<double>(of_row[row]);
    return sum;
}

TreeGrower::TreeGrower(const BinnedData& data, const GradientBoostingOptions& options,
                       std::size_t width, std::size_t n_few, const RowWeights& weights)
    : data_(data), options_(options), width_(width), n_few_(n_few), weights_(weights) {
    const CutRules rules{options.min_samples_leaf, options.l2_regularization, width};
    for (unsigned t = 0; t < std::max(1U, options.n_threads); ++t) {
        searches_.push_back(std::make_unique<Search>(rules));
    }
    if (n_few_ > 0) bin_rows_.emplace(data);
}

TreeGrower::~TreeGrower() = default;

void TreeGrower::choose_features(std::span<const std::int32_t> features) {
    dense_.clear();
    first_bin_.assign(1, 0);
    places_.assign(data_.groups.size(), {});
    for (const auto f : features) {
        const auto& feature = data_.features[static_cast<std::size_t>(f)];
        if (feature.is_sparse()) {
            places_[static_cast<std::size_t>(feature.group)].push_back(feature.place);
        } else {
            dense_.push_back(f);
            first_bin_.push_back(first_bin_.back() + feature.n_bins + 1U);
        }
    }
}

std::unique_ptr<Histograms> TreeGrower::take_histograms() {
    std::unique_ptr<Histograms> histograms;
    if (free_.empty()) {
        histograms = std::make_unique<Histograms>();
    } else {
        histograms = std::move(free_.back());
        free_.pop_back();
    }
    histograms->reset(first_bin_, width_);
    return histograms;
}

bool TreeGrower::can_split(const OpenNode& node) const {
    return node.depth < options_.max_depth && node.n_rows() >= 2 * options_.min_samples_leaf;
}

std::span<float> TreeGrower::records(std::size_t n_rows) {
    records_[0].resize(n_rows * record_stride(n_few_));
    return records_[0];
}

std::span<const std::uint32_t> TreeGrower::row_numbers(const OpenNode& node) const {
    return std::span(rows_[node.side]).subspan(node.begin, node.n_rows());
}

SketchedRows TreeGrower::rows_of(const OpenNode& node) const {
    return {row_numbers(node), sketch_, weights_.of_row.data(), width_};
}

unsigned TreeGrower::threads_for(std::size_t n_rows) const {
    return n_rows < min_shared_rows ? 1U : options_.n_threads;
}

/// The sum of the sketches of `n` rows of a node; not of records if nobody asks for it.
void TreeGrower::add_part(const OpenNode& node, std::size_t begin, std::size_t n,
                          float* sums) const {
    static const std::vector<std::uint32_t> zeros(rows_per_sum, 0);
    if (n_few_ == 0) {
        add_vectors(sketch_, rows_[node.side].data() + begin, zeros.data(), n, width_, sums);
    } else if (can_split(node)) {
        sum_records(&records_[node.side][begin * record_stride(n_few_)], n, n_few_, sums);
    }
}

/// Sums over rows in parts, which are then added in order.
void TreeGrower::find_totals(std::vector<Family>& families, StopSignal& signal) const {
    struct Part {
        OpenNode* node;
        std::size_t begin;
    };
    std::vector<Part> parts;
    std::size_t n_rows = 0;
    for (auto& family : families) {
        for (auto& node : family.members) {
            node.sums.assign(width_, 0.0F);
            node.weight = 0;
            n_rows += node.n_rows();
            for (auto begin = node.begin; begin < node.end; begin += rows_per_sum) {
                parts.push_back({&node, begin});
            }
        }
    }
    std::vector<float> sums(parts.size() * width_, 0.0F);
    std::vector<double> weights(parts.size(), 0.0);
    constexpr std::size_t parts_per_task = node_rows_per_task / rows_per_sum;
    const auto n_tasks = (parts.size() + parts_per_task - 1) / parts_per_task;
    parallel_for(threads_for(n_rows), n_tasks, signal, [&](unsigned, std::size_t task) {
        const auto last = std::min((task + 1) * parts_per_task, parts.size());
        for (auto p = task * parts_per_task; p < last; ++p) {
            const auto& [node, begin] = parts[p];
            const auto n = std::min(rows_per_sum, node->end - begin);
            add_part(*node, begin, n, &sums[p * width_]);
            weights[p] = weights_.sum(std::span(rows_[node->side]).subspan(begin, n));
        }
    });
    for (std::size_t p = 0; p < parts.size(); ++p) {
        add_floats(parts[p].node->sums.data(), &sums[p * width_], width_);
        parts[p].node->weight += weights[p];
    }
}

void TreeGrower::run(const Task& task, unsigned thread, Family& family) {
    auto& search = *searches_[thread];
    auto* found = &family.found[task.slot * family.members.size()];
    if (task.group >= 0) {
        const auto g = static_cast<std::size_t>(task.group);
        for (std::size_t m = 0; m < family.members.size(); ++m) {
            if (!family.wanted[m]) continue;
            const auto& node = family.members[m];
            search.sparse.fill(data_, data_.groups[g], places_[g], rows_of(node), node.total());
            for (std::size_t i = 0; i < places_[g].size(); ++i) {
                if (!search.sparse.has_cells(i)) continue;
                const auto number = data_.groups[g].features[places_[g][i]];
                search.finder.search(data_.features[static_cast<std::size_t>(number)], number,
                                     search.sparse.view(i), node.total(), found[m]);
            }
        }
        return;
    }
    for (auto i = task.first; i < task.last; ++i) search_dense(i, family, search, found);
}

void TreeGrower::search_dense(std::size_t i, Family& family, Search& search, BinSplit* found) {
    const auto& feature = data_.features[static_cast<std::size_t>(dense_[i])];
    HistogramView counted{};
    for (std::size_t m = 0; m < family.members.size(); ++m) {
        auto& node = family.members[m];
        const bool by_subtraction = m == 1 && family.parent != nullptr;
        const bool needed_for_next = m == 0 && family.parent != nullptr && family.wanted[1];
        if (!family.wanted[m] && !needed_for_next) continue;
        if (by_subtraction) {
            family.parent->subtract(i, counted);
            counted = family.parent->view(i);
        } else if (n_few_ > 0) {
            counted = (node.histograms ? node.histograms : node.passing)->view(i);
        } else if (node.histograms) {
            node.histograms->fill(i, feature.bins.data(), rows_of(node));
            counted = node.histograms->view(i);
        } else {
            const std::size_t bins[] = {0, feature.n_bins + std::size_t{1}};
            search.scratch.reset(bins, width_);
            search.scratch.fill(0, feature.bins.data(), rows_of(node));
            counted = search.scratch.view(0);
        }
        if (family.wanted[m]) {
            search.finder.search(feature, dense_[i], counted, node.total(), found[m]);
        }
    }
}

/// Decides which nodes may be split, and which of them keep histograms for their children.
void TreeGrower::keep_histograms(Family& family) {
    for (auto& node : family.members) {
        const bool wanted = can_split(node);
        family.wanted.push_back(wanted);
        // Kept if its children may be split.
        const bool last_of_two = &node != &family.members.front();
        if (wanted && node.depth + 1 < options_.max_depth && node.n_rows() >= min_kept_rows &&
            !(last_of_two && family.parent)) {
            const auto bytes = first_bin_.back() * width_ * sizeof(float);
            if (bytes_in_use_ + bytes <= max_kept_bytes) {
                node.histograms = take_histograms();
                bytes_in_use_ += bytes;
            }
        }
    }
}

void TreeGrower::list_tasks(std::size_t number, Family& family, std::vector<Task>& tasks) const {
    std::size_t slot = 0;
    // One feature at a time in large nodes, so that no thread waits long for the last task.
    const bool is_large = n_few_ == 0 && family.members.front().n_rows() >= min_rows_per_feature;
    const auto at_once = is_large ? 1 : features_per_task;
    for (std::size_t first = 0; first < dense_.size(); first += at_once) {
        tasks.push_back({number, slot++, -1, first, std::min(first + at_once, dense_.size())});
    }
    for (std::size_t g = 0; g < places_.size(); ++g) {
        if (!places_[g].empty()) {
            tasks.push_back({number, slot++, static_cast<std::int32_t>(g), 0, 0});
        }
    }
    family.found.resize(slot * family.members.size());
}

void TreeGrower::search_tasks(std::span<const Task> tasks, std::vector<Family>& families,
                              StopSignal& signal) {
    std::size_t n_vectors = 0;
    const Family* last = nullptr;
    for (const auto& task : tasks) {
        const auto* family = &families[task.family];
        if (std::exchange(last, family) == family) continue;
        for (std::size_t m = 0; m < family->members.size(); ++m) {
            const auto& node = family->members[m];
            const auto n = n_few_ > 0 ? max_bins_of_feature : node.n_rows();
            if (family->wanted[m]) n_vectors += n * (dense_.size() + 1);
        }
    }
    const auto n_threads = n_vectors < min_shared_vectors ? 1U : options_.n_threads;
    parallel_for(n_threads, tasks.size(), signal, [&](unsigned thread, std::size_t i) {
        signal.check();
        run(tasks[i], thread, families[tasks[i].family]);
    });
}

/// Counts records before it searches, some families at a time: histograms need much memory.
void TreeGrower::run_in_turns(std::span<const Task> tasks, std::vector<Family>& families,
                              StopSignal& signal) {
    const auto bytes = first_bin_.back() * width_ * sizeof(float);
    const auto at_once = std::max<std::size_t>(1, max_passing_bytes / (bytes + 1) / 2);
    for (std::size_t first = 0; first < tasks.size();) {
        const auto begin = tasks[first].family;
        auto last = first;
        while (last < tasks.size() && tasks[last].family < begin + at_once) ++last;
        const auto turn = std::span(families).subspan(begin, tasks[last - 1].family + 1 - begin);
        count_families(turn, signal);
        search_tasks(tasks.subspan(first, last - first), families, signal);
        for (auto& family : turn) {
            for (auto& node : family.members) {
                if (node.passing) free_.push_back(std::move(node.passing));
            }
        }
        first = last;
    }
}

/// Fills the histograms of all nodes but those that are found by subtraction.
void TreeGrower::count_families(std::span<Family> families, StopSignal& signal) {
    std::vector<CountedPart> parts;
    for (auto& family : families) {
        for (std::size_t m = 0; m < family.members.size(); ++m) {
            auto& node = family.members[m];
            const bool needed = m == 0 && family.parent && family.wanted[1];
            const bool by_subtraction = m == 1 && family.parent;
            if (by_subtraction || !(family.wanted[m] || needed)) continue;
            if (!node.histograms) node.passing = take_histograms();
            for (auto begin = node.begin; begin < node.end; begin += max_recorded_rows) {
                parts.push_back({&node, begin, std::min(begin + max_recorded_rows, node.end)});
            }
        }
    }
    const auto bytes = first_bin_.back() * record_stride(n_few_) * sizeof(float);
    const auto at_once = std::clamp<std::size_t>(max_passing_bytes / (bytes + 1), 1,
                                                 4 * std::size_t{options_.n_threads});
    counted_.resize(std::max(counted_.size(), std::min(at_once, parts.size())));
    for (std::size_t first = 0; first < parts.size(); first += at_once) {
        const auto n = std::min(at_once, parts.size() - first);
        count_parts(std::span(parts).subspan(first, n), signal);
    }
}

/// Sums the records of some parts, and adds the sums to their nodes in order.
void TreeGrower::count_parts(std::span<const CountedPart> parts, StopSignal& signal) {
    const auto stride = record_stride(n_few_);
    std::size_t n_rows = 0;
    for (const auto& part : parts) n_rows += part.end - part.begin;
    const auto n_threads = n_rows * dense_.size() < min_shared_vectors ? 1U : options_.n_threads;
    parallel_for(n_threads, parts.size(), signal, [&](unsigned, std::size_t i) {
        signal.check();
        const auto& [node, begin, end] = parts[i];
        const RecordedRows rows{&records_[node->side][begin * stride], &rows_[node->side][begin],
                                end - begin, stride};
        counted_[i].reset(first_bin_, stride, !weights_.equal);
        counted_[i].fill(*bin_rows_, dense_, first_bin_, rows,
                         weights_.equal ? nullptr : weights_.of_row.data());
    });
    const auto n_tasks = (dense_.size() + features_per_task - 1) / features_per_task;
    parallel_for(n_threads, n_tasks, signal, [&](unsigned, std::size_t task) {
        const auto first = first_bin_[task * features_per_task];
        const auto last = first_bin_[std::min((task + 1) * features_per_task, dense_.size())];
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto& [node, begin, end] = parts[i];
            std::optional<double> equal;
            if (weights_.equal) equal = weights_.of_row[rows_[node->side][begin]];
            auto& to = node->histograms ? *node->histograms : *node->passing;
            to.add_records(first, last, counted_[i], n_few_, equal, begin == node->begin);
        }
    });
}

void TreeGrower::evaluate(std::vector<Family>& families, StopSignal& signal) {
    find_totals(families, signal);
    std::vector<Task> tasks;
    for (std::size_t f = 0; f < families.size(); ++f) {
        keep_histograms(families[f]);
        if (std::ranges::find(families[f].wanted, true) != families[f].wanted.end()) {
            list_tasks(f, families[f], tasks);
        }
    }
    if (n_few_ > 0) {
        run_in_turns(tasks, families, signal);
    } else {
        search_tasks(tasks, families, signal);
    }
    for (auto& family : families) {
        // The first of the features with the largest gain, whichever task found it.
        for (std::size_t k = 0; k < family.found.size(); ++k) {
            auto& best = family.members[k % family.members.size()].best;
            const auto& found = family.found[k];
            if (found.gain > best.gain ||
                (found.gain == best.gain && found.feature >= 0 && found.feature < best.feature)) {
                best = found;
            }
        }
        if (family.parent) {
            if (family.wanted[1]) {
                family.members[1].histograms = std::move(family.parent);
            } else {
                bytes_in_use_ -= first_bin_.back() * width_ * sizeof(float);
                free_.push_back(std::move(family.parent));
            }
        }
    }
}

/// Some of the rows of a node that is divided.
struct TreeGrower::NodePart {
    const OpenNode* node;
    std::size_t begin;
    std::size_t end;
    std::size_t n_yes = 0;
    std::size_t yes_place = 0;  // where its rows go
    std::size_t no_place = 0;
};

/// Finds out which rows of a part pass the test.
void TreeGrower::test_part(NodePart& part) {
    const auto& test = part.node->best;
    const auto number = static_cast<std::size_t>(test.feature);
    const auto& feature = data_.features[number];
    const auto* rows = rows_[part.node->side].data();
    const auto test_all = [&](auto bin_of) {
        std::size_t n_yes = 0;
        for (auto i = part.begin; i < part.end; ++i) {
            const bool passes = test.yes.has(bin_of(rows[i]));
            passes_[i] = passes ? 1 : 0;
            n_yes += passes ? 1 : 0;
        }
        part.n_yes = n_yes;
    };
    if (feature.is_sparse()) {
        test_all([&](std::uint32_t row) { return data_.bin(number, row); });
    } else {
        test_all([bins = feature.bins.data()](std::uint32_t row) { return bins[row]; });
    }
}

/// Moves the rows of a part to the other list, and their records if the children need them.
void TreeGrower::move_part(const NodePart& part) {
    const auto side = part.node->side;
    const auto* from = rows_[side].data();
    auto* to = rows_[1 - side].data();
    auto yes = part.yes_place;
    auto no = part.no_place;
    for (auto i = part.begin; i < part.end; ++i) {
        const bool passes = passes_[i] != 0;
        to[passes ? yes : no] = from[i];
        yes += passes ? 1 : 0;
        no += passes ? 0 : 1;
    }
    if (n_few_ > 0 && part.node->depth + 1 < options_.max_depth) {
        const auto stride = record_stride(n_few_);
        divide_records(&records_[side][part.begin * stride], &passes_[part.begin],
                       part.end - part.begin, stride, part.yes_place, part.no_place,
                       records_[1 - side].data());
    }
}

/// Divides the rows of nodes; they stay in order. Returns where the rows that fail begin.
std::vector<std::size_t> TreeGrower::divide_rows(std::span<const OpenNode> nodes,
                                                 StopSignal& signal) {
    std::vector<NodePart> parts;
    std::size_t n_rows = 0;
    for (const auto& node : nodes) {
        n_rows += node.n_rows();
        for (auto begin = node.begin; begin < node.end; begin += node_rows_per_task) {
            parts.push_back({&node, begin, std::min(begin + node_rows_per_task, node.end)});
        }
    }
    const auto n_threads = threads_for(n_rows);
    parallel_for(n_threads, parts.size(), signal, [&](unsigned, std::size_t i) {
        signal.check();
        test_part(parts[i]);
    });
    std::vector<std::size_t> middles;
    for (std::size_t first = 0; const auto& node : nodes) {
        auto last = first;
        auto place = node.begin;
        for (; last < parts.size() && parts[last].node == &node; ++last) {
            parts[last].yes_place = place;
            place += parts[last].n_yes;
        }
        middles.push_back(place);
        for (; first < last; ++first) {
            parts[first].no_place = place;
            place += parts[first].end - parts[first].begin - parts[first].n_yes;
        }
    }
    parallel_for(n_threads, parts.size(), signal,
                 [&](unsigned, std::size_t i) { move_part(parts[i]); });
    return middles;
}

std::vector<TreeGrower::Family> TreeGrower::divide(std::vector<OpenNode> nodes,
                                                   StopSignal& signal) {
    const auto middles = divide_rows(nodes, signal);
    std::vector<Family> families;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        families.push_back(make_family(std::move(nodes[i]), middles[i]));
    }
    return families;
}

TreeGrower::Family TreeGrower::make_family(OpenNode parent, std::size_t middle) {
    auto& node = nodes_[parent.number];
    node.split = parent.best;
    node.yes = static_cast<std::int32_t>(nodes_.size());
    node.no = node.yes + 1;
    Family family;
    for (const auto& [begin, end] :
         {std::pair(parent.begin, middle), std::pair(middle, parent.end)}) {
        OpenNode child;
        child.number = nodes_.size();
        child.begin = begin;
        child.end = end;
        child.depth = parent.depth + 1;
        child.side = 1 - parent.side;
        nodes_.push_back({{}, -1, -1, begin, end, 0, child.side});
        family.members.push_back(std::move(child));
    }
    if (family.members[1].n_rows() < family.members[0].n_rows()) {
        std::swap(family.members[0], family.members[1]);
    }
    family.parent = std::move(parent.histograms);
    return family;
}

GrownTree TreeGrower::grow(std::span<const std::int32_t> features, std::vector<std::uint32_t> rows,
                           const float* sketch, StopSignal& signal) {
    choose_features(features);
    bytes_in_use_ = 0;
    sketch_ = sketch;
    rows_[0] = std::move(rows);
    rows_[1].resize(rows_[0].size());
    records_[1].resize(records_[0].size());
    passes_.resize(rows_[0].size());
    nodes_.assign(1, {});
    nodes_[0].end = rows_[0].size();
    OpenNode root;
    root.end = rows_[0].size();
    std::vector<Family> families(1);
    families[0].members.push_back(std::move(root));
    const bool best_first = options_.max_leaf_nodes > 0;
    std::size_t n_leaves = 1;
    std::vector<OpenNode> open;  // nodes with a test that are not split yet
    while (!families.empty()) {
        evaluate(families, signal);
        for (auto& family : families) {
            for (auto& node : family.members) {
                nodes_[node.number].weight = node.weight;
                if (node.best.feature >= 0) {
                    open.push_back(std::move(node));
                } else if (node.histograms) {
                    bytes_in_use_ -= first_bin_.back() * width_ * sizeof(float);
                    free_.push_back(std::move(node.histograms));
                }
            }
        }
        families.clear();
        if (best_first) {
            if (open.empty() || n_leaves >= options_.max_leaf_nodes) break;
            // The largest gain; of equal ones, the node that was found first.
            const auto best = std::ranges::max_element(open, [](const auto& a, const auto& b) {
                return a.best.gain != b.best.gain ? a.best.gain < b.best.gain
                                                  : a.number > b.number;
            });
            std::vector<OpenNode> chosen;
            chosen.push_back(std::move(*best));
            open.erase(best);
            families = divide(std::move(chosen), signal);
            ++n_leaves;
        } else {
            families = divide(std::exchange(open, {}), signal);
        }
    }
    for (auto& node : open) {
        if (node.histograms) free_.push_back(std::move(node.histograms));
    }
    return finish();
}

/// Puts the rows of all leaves into one list.
GrownTree TreeGrower::finish() {
    for (const auto& node : nodes_) {
        if (!node.is_leaf() || node.side == 0) continue;
        const auto begin = static_cast<std::ptrdiff_t>(node.begin);
        std::copy(rows_[1].begin() + begin,
                  rows_[1].begin() + static_cast<std::ptrdiff_t>(node.end),
                  rows_[0].begin() + begin);
    }
    return {std::move(nodes_), std::move(rows_[0])};
}

}  // namespace ramify
