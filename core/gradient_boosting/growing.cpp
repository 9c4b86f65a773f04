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

}  // namespace

struct TreeGrower::OpenNode {
    std::size_t number = 0;  // in the tree
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
    double weight = 0;
    std::vector<float> sums;
    BinSplit best;
    std::unique_ptr<Histograms> histograms;  // of the dense features, if kept

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

/// The buffers of one thread.
class TreeGrower::Search {
  public:
    explicit Search(const CutRules& rules) : finder(rules) {}
    SplitFinder finder;
    Histograms scratch;
    SparseHistograms sparse;
};

TreeGrower::TreeGrower(const BinnedData& data, const GradientBoostingOptions& options,
                       std::size_t width)
    : data_(data), options_(options), width_(width) {
    const CutRules rules{options.min_samples_leaf, options.l2_regularization, width};
    for (unsigned t = 0; t < std::max(1U, options.n_threads); ++t) {
        searches_.push_back(std::make_unique<Search>(rules));
    }
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

SketchedRows TreeGrower::rows_of(const OpenNode& node) const {
    return {std::span(tree_.rows).subspan(node.begin, node.n_rows()), sketch_, weight_, width_};
}

unsigned TreeGrower::threads_for(std::size_t n_rows) const {
    return n_rows < min_shared_rows ? 1U : options_.n_threads;
}

/// Sums over rows in parts, which are then added in order.
void TreeGrower::find_totals(std::vector<Family>& families, StopSignal& signal) const {
    static const std::vector<std::uint32_t> zeros(rows_per_sum, 0);
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
            const auto n = std::min(rows_per_sum, parts[p].node->end - parts[p].begin);
            const auto rows = std::span(tree_.rows).subspan(parts[p].begin, n);
            add_vectors(sketch_, rows.data(), zeros.data(), n, width_, &sums[p * width_]);
            for (const auto row : rows) weights[p] += static_cast<double>(weight_[row]);
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

void TreeGrower::evaluate(std::vector<Family>& families, StopSignal& signal) {
    find_totals(families, signal);
    std::vector<Task> tasks;
    std::size_t n_vectors = 0;
    for (std::size_t f = 0; f < families.size(); ++f) {
        auto& family = families[f];
        bool any = false;
        for (auto& node : family.members) {
            const bool wanted = can_split(node);
            family.wanted.push_back(wanted);
            any |= wanted;
            if (wanted) n_vectors += node.n_rows() * (dense_.size() + 1);
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
        if (!any) continue;
        std::size_t slot = 0;
        // One feature at a time in large nodes, so that no thread waits long for the last task.
        const auto at_once =
            family.members.front().n_rows() < min_rows_per_feature ? features_per_task : 1;
        for (std::size_t first = 0; first < dense_.size(); first += at_once) {
            tasks.push_back({f, slot++, -1, first, std::min(first + at_once, dense_.size())});
        }
        for (std::size_t g = 0; g < places_.size(); ++g) {
            if (!places_[g].empty()) {
                tasks.push_back({f, slot++, static_cast<std::int32_t>(g), 0, 0});
            }
        }
        family.found.resize(slot * family.members.size());
    }
    const auto n_threads = n_vectors < min_shared_vectors ? 1U : options_.n_threads;
    parallel_for(n_threads, tasks.size(), signal, [&](unsigned thread, std::size_t i) {
        signal.check();
        run(tasks[i], thread, families[tasks[i].family]);
    });
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
                bytes_in_use_ -= family.parent->bytes();
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

/// Moves the rows of a part to the buffer, those that pass the test first.
void TreeGrower::sort_part(NodePart& part) {
    const auto& test = part.node->best;
    const auto& feature = data_.features[static_cast<std::size_t>(test.feature)];
    const auto* rows = tree_.rows.data();
    auto yes = part.begin;
    auto no = part.end;
    const auto sort = [&](auto bin_of) {
        for (auto i = part.begin; i < part.end; ++i) {
            // Those that fail are written from the end, in reverse.
            const bool passes = test.yes.has(bin_of(rows[i]));
            buffer_[passes ? yes++ : --no] = rows[i];
        }
    };
    if (feature.is_sparse()) {
        const auto number = static_cast<std::size_t>(test.feature);
        sort([&](std::uint32_t row) { return data_.bin(number, row); });
    } else {
        sort([bins = feature.bins.data()](std::uint32_t row) { return bins[row]; });
    }
    part.n_yes = yes - part.begin;
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
    buffer_.resize(tree_.rows.size());
    const auto n_threads = threads_for(n_rows);
    parallel_for(n_threads, parts.size(), signal, [&](unsigned, std::size_t i) {
        signal.check();
        sort_part(parts[i]);
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
    parallel_for(n_threads, parts.size(), signal, [&](unsigned, std::size_t i) {
        const auto& part = parts[i];
        const auto* from = buffer_.data() + part.begin;
        std::copy_n(from, part.n_yes, tree_.rows.data() + part.yes_place);
        std::reverse_copy(from + part.n_yes, from + (part.end - part.begin),
                          tree_.rows.data() + part.no_place);
    });
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
    auto& node = tree_.nodes[parent.number];
    node.split = parent.best;
    node.yes = static_cast<std::int32_t>(tree_.nodes.size());
    node.no = node.yes + 1;
    Family family;
    for (const auto& [begin, end] :
         {std::pair(parent.begin, middle), std::pair(middle, parent.end)}) {
        OpenNode child;
        child.number = tree_.nodes.size();
        child.begin = begin;
        child.end = end;
        child.depth = parent.depth + 1;
        tree_.nodes.push_back({{}, -1, -1, begin, end, 0});
        family.members.push_back(std::move(child));
    }
    if (family.members[1].n_rows() < family.members[0].n_rows()) {
        std::swap(family.members[0], family.members[1]);
    }
    family.parent = std::move(parent.histograms);
    return family;
}

GrownTree TreeGrower::grow(std::span<const std::int32_t> features, std::vector<std::uint32_t> rows,
                           const float* sketch, const float* weight, StopSignal& signal) {
    choose_features(features);
    bytes_in_use_ = 0;
    sketch_ = sketch;
    weight_ = weight;
    tree_ = {};
    tree_.rows = std::move(rows);
    tree_.nodes.push_back({{}, -1, -1, 0, tree_.rows.size(), 0});
    OpenNode root;
    root.end = tree_.rows.size();
    std::vector<Family> families(1);
    families[0].members.push_back(std::move(root));
    const bool best_first = options_.max_leaf_nodes > 0;
    std::size_t n_leaves = 1;
    std::vector<OpenNode> open;  // nodes with a test that are not split yet
    while (!families.empty()) {
        evaluate(families, signal);
        for (auto& family : families) {
            for (auto& node : family.members) {
                tree_.nodes[node.number].weight = node.weight;
                if (node.best.feature >= 0) {
                    open.push_back(std::move(node));
                } else if (node.histograms) {
                    bytes_in_use_ -= node.histograms->bytes();
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
    return std::move(tree_);
}

}  // namespace ramify
