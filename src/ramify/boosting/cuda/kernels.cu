// Kernels of gradient boosting, compiled when they are first used.
//
// They compute the same bits as core/gradient_boosting: every sum has the order of additions that
// the core has, and multiplications are not fused with additions. A thread therefore sums what a
// lane of a vector sums in the core; rows, features, nodes and parts of sums run in parallel.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define WARP 32
#define LANES 16  // float_block in the core
#define EVERYONE 0xFFFFFFFFu
#define WORDS_OF_SET 8
#define PARTS_AT_ONCE 64u  // of the sums of a leaf: 4,096 rows

extern "C" {

// ---- probabilities -------------------------------------------------------------------------

struct Normaliser {
    float largest;
    float factor;
};

struct Rows {
    const float* margins;  // `stride` per row
    const Normaliser* normaliser;
    const u32* bits;  // which outputs a row has, `n_words` words per row
    const float* weight;
    int stride;
    int n_words;
    int softmax;
};

__device__ inline float exp_of(float x) {
    const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float series = 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    return series * __int_as_float((static_cast<int>(n) + 127) << 23);
}

__device__ inline float clamp(float x, float most) {
    x = x < -most ? -most : x;
    return x > most ? most : x;
}

__device__ inline float share(float margin, Normaliser normaliser) {
    return normaliser.factor * exp_of(clamp(margin - normaliser.largest, 80.0f));
}

__device__ inline float probability(const Rows& rows, float margin, Normaliser normaliser) {
    return rows.softmax ? share(margin, normaliser)
                        : 1.0f / (1.0f + exp_of(clamp(-margin, 40.0f)));
}

__device__ inline Normaliser normaliser_of(const Rows& rows, u32 row) {
    return rows.softmax ? rows.normaliser[row] : Normaliser{0.0f, 1.0f};
}

__device__ inline bool has_output(const u32* bits, int place) {
    return (bits[place / 32] >> (place % 32)) & 1u;
}

// One row for every LANES threads.
__global__ void normalise_rows(const float* margins, int stride, const u32* rows, u32 n,
                               Normaliser* normaliser) {
    const u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES;
    const u32 row = rows[i < n ? i : n - 1];
    const float* margin = margins + static_cast<u64>(row) * stride;
    float largest = margin[lane];
    for (int j = lane; j < stride; j += LANES) largest = fmaxf(largest, margin[j]);
    for (int step = LANES / 2; step > 0; step /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(EVERYONE, largest, step, LANES));
    }
    float part = 0;
    for (int j = lane; j < stride; j += LANES) part += share(margin[j], {largest, 1.0f});
    float sum = 0;
    for (int k = 0; k < LANES; ++k) sum += __shfl_sync(EVERYONE, part, k, LANES);
    if (i < n && lane == 0) normaliser[row] = {largest, 1.0f / sum};
}

// ---- sketch --------------------------------------------------------------------------------

__device__ inline float gradient(const Rows& rows, const float* margin, const u32* bits,
                                 Normaliser normaliser, int place) {
    float p = probability(rows, margin[place], normaliser);
    if (has_output(bits, place)) p -= 1.0f;
    return p;
}

// One row for every warp.
__global__ void sketch_rows(const Rows* of_rows, const u32* rows, u32 n, const float* factor,
                            const int* shift, int n_blocks, int n_single, int n_shared,
                            float* sketch) {
    const u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= n) return;
    const Rows data = *of_rows;
    const u32 row = rows[i];
    const float* margin = data.margins + static_cast<u64>(row) * data.stride;
    const u32* bits = data.bits + static_cast<u64>(row) * data.n_words;
    const Normaliser normaliser = normaliser_of(data, row);
    const float weight = data.weight[row];
    float* out = sketch + static_cast<u64>(row) * (n_single + n_shared);
    for (int t = threadIdx.x % WARP; t < n_single; t += WARP) {
        out[t] = weight * (gradient(data, margin, bits, normaliser, t) * factor[t]);
    }
    for (int t = threadIdx.x % WARP; t < n_shared; t += WARP) {
        float early = 0;  // blocks whose first output has this dimension or an earlier one
        float late = 0;   // blocks that are wrapped around
        for (int b = 0; b < n_blocks; ++b) {
            const int first = n_single + b * n_shared;
            const int s = shift[b];
            const int place = first + (t >= s ? t - s : n_shared + t - s);
            const float term = gradient(data, margin, bits, normaliser, place) * factor[place];
            if (t >= s) {
                early += term;
            } else {
                late += term;
            }
        }
        out[n_single + t] = weight * (early + late);
    }
}

// ---- totals --------------------------------------------------------------------------------

// The sums of parts of nodes: rows begin[part] to end[part] - 1.
__global__ void sum_parts(const float* sketch, const float* weight, const u32* rows,
                          const u32* begin, const u32* end, int width, float* sums,
                          double* weights) {
    const u32 part = blockIdx.x;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float sum = 0;
#pragma unroll 8
        for (u32 i = begin[part]; i < end[part]; ++i) {
            sum += sketch[static_cast<u64>(rows[i]) * width + d];
        }
        sums[static_cast<u64>(part) * width + d] = sum;
    }
    // Weights have 24 bits and their sums 53: the order does not matter.
    __shared__ double shared[WARP];
    double sum = 0;
    if (threadIdx.x < WARP) {
        for (u32 i = begin[part] + threadIdx.x; i < end[part]; i += WARP) sum += weight[rows[i]];
        shared[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < WARP; ++t) sum += shared[t];
        weights[part] = sum;
    }
}

// The sums of nodes: parts first_part[node] to first_part[node + 1] - 1.
__global__ void sum_nodes(const float* part_sums, const double* part_weights,
                          const u32* first_part, int width, float* sums, double* weights) {
    const u32 node = blockIdx.x;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float sum = 0;
        for (u32 p = first_part[node]; p < first_part[node + 1]; ++p) {
            sum += part_sums[static_cast<u64>(p) * width + d];
        }
        sums[static_cast<u64>(node) * width + d] = sum;
    }
    if (threadIdx.x == 0) {
        double sum = 0;
        for (u32 p = first_part[node]; p < first_part[node + 1]; ++p) sum += part_weights[p];
        weights[node] = sum;
    }
}

// ---- histograms ----------------------------------------------------------------------------

// Where the histograms of a few rows go: pointers to the first bin of the first feature.
struct Chunk {
    u64 sums;
    u64 counts;
    u64 weights;
    u32 begin;
    u32 end;
};

struct Histogram {
    float* sums;
    u32* counts;
    double* weights;
};

// A warp adds the rows of a chunk (x) to the histogram of a feature (y), WARP dimensions of the
// sketch (z), one after the other.
__global__ void fill_histograms(const u8* bins, u64 n_rows, const u32* rows, const float* sketch,
                                const float* weight, int width, const int* features,
                                const u32* first_bin, const Chunk* chunks) {
    extern __shared__ double memory[];
    const Chunk chunk = chunks[blockIdx.x];
    const int lane = threadIdx.x;
    const int n_bins = static_cast<int>(first_bin[blockIdx.y + 1] - first_bin[blockIdx.y]);
    double* weights = memory;
    float* sums = reinterpret_cast<float*>(weights + n_bins);
    u32* counts = reinterpret_cast<u32*>(sums + n_bins * WARP);
    for (int b = 0; b < n_bins; ++b) sums[b * WARP + lane] = 0.0f;
    for (int b = lane; b < n_bins; b += WARP) {
        weights[b] = 0.0;
        counts[b] = 0;
    }
    __syncwarp();
    const u8* column = bins + static_cast<u64>(features[blockIdx.y]) * n_rows;
    const bool counting = blockIdx.z == 0;
    const int d = blockIdx.z * WARP + lane;
    const bool active = d < width;
    const float* from = sketch + (active ? d : 0);
    for (u32 base = chunk.begin; base < chunk.end; base += WARP) {
        const int n = min(static_cast<u32>(WARP), chunk.end - base);
        u32 row = 0;
        int bin = 0;
        if (lane < n) {
            row = rows[base + lane];
            bin = column[row];
            if (counting) {
                atomicAdd(&counts[bin], 1u);
                atomicAdd(&weights[bin], static_cast<double>(weight[row]));
            }
        }
        if (n == WARP) {
            for (int first = 0; first < WARP; first += 8) {
                float value[8];
                int target[8];
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    const u32 source = __shfl_sync(EVERYONE, row, first + k);
                    target[k] = __shfl_sync(EVERYONE, bin, first + k);
                    value[k] = from[static_cast<u64>(source) * width];
                }
#pragma unroll
                for (int k = 0; k < 8; ++k) sums[target[k] * WARP + lane] += value[k];
            }
        } else {
            for (int k = 0; k < n; ++k) {
                const u32 source = __shfl_sync(EVERYONE, row, k);
                const int target = __shfl_sync(EVERYONE, bin, k);
                sums[target * WARP + lane] += from[static_cast<u64>(source) * width];
            }
        }
    }
    __syncwarp();
    const u64 first = first_bin[blockIdx.y] - first_bin[0];
    float* out = reinterpret_cast<float*>(chunk.sums) + first * width + d;
    if (active) {
        for (int b = 0; b < n_bins; ++b) out[static_cast<u64>(b) * width] = sums[b * WARP + lane];
    }
    if (counting) {
        for (int b = lane; b < n_bins; b += WARP) {
            reinterpret_cast<u32*>(chunk.counts)[first + b] = counts[b];
            reinterpret_cast<double*>(chunk.weights)[first + b] = weights[b];
        }
    }
}

// The sum of n_parts arrays of n cells, in their order.
__global__ void add_float_parts(const float* parts, u64 n, int n_parts, float* out) {
    const u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = parts[i];
    for (int p = 1; p < n_parts; ++p) sum += parts[p * n + i];
    out[i] = sum;
}

__global__ void add_count_parts(const u32* counts, const double* weights, u64 n, int n_parts,
                                u32* out_counts, double* out_weights) {
    const u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 count = 0;
    double weight = 0;
    for (int p = 0; p < n_parts; ++p) {
        count += counts[p * n + i];
        weight += weights[p * n + i];
    }
    out_counts[i] = count;
    out_weights[i] = weight;
}

// The histogram of a sparse feature (x) in a node (y): rows with zeros are what is left of the
// total.
__global__ void find_zero_bins(const Histogram* histograms, const float* totals,
                               const u32* total_rows, const double* total_weights,
                               const u32* first_bin, const int* zero_bin, int width) {
    const u32 node = blockIdx.y;
    const u32 first = first_bin[blockIdx.x];
    const int n_bins = static_cast<int>(first_bin[blockIdx.x + 1] - first);
    const int zero = zero_bin[blockIdx.x];
    float* sums = histograms[node].sums + static_cast<u64>(first) * width;
    u32* counts = histograms[node].counts + first;
    double* weights = histograms[node].weights + first;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float sum = totals[static_cast<u64>(node) * width + d];
        for (int b = 0; b < n_bins; ++b) {
            if (b != zero && counts[b] > 0) sum -= sums[static_cast<u64>(b) * width + d];
        }
        sums[static_cast<u64>(zero) * width + d] = sum;
    }
    if (threadIdx.x > 0) return;
    u32 rows = total_rows[node];
    double weight = total_weights[node];
    for (int b = 0; b < n_bins; ++b) {
        if (b == zero || counts[b] == 0) continue;
        rows -= counts[b];
        weight -= weights[b];
    }
    counts[zero] = rows;
    weights[zero] = weight;
}

// ---- splits --------------------------------------------------------------------------------

struct Found {
    double gain;
    int feature;  // its place among the features of the tree
    int cut;      // the last bin of the first branch
    int missing_yes;
    int padding;
};

__device__ inline float sum_lanes(float x) {
    for (int step = LANES / 2; step > 0; step /= 2) {
        x += __shfl_down_sync(EVERYONE, x, step, LANES);
    }
    return x;
}

__device__ inline double leaf_score(float squares, double weight, double l2) {
    return static_cast<double>(squares) / (weight + 4 * l2);
}

// The best cut of a feature (x) in a node (y). The first half of the warp sends missing values to
// the second branch, the other half to the first branch.
__global__ void search_cuts(const Histogram* histograms, const float* totals,
                            const u32* total_rows, const double* total_weights,
                            const u32* first_bin, const u8* is_nominal, int width,
                            u32 min_samples_leaf, double l2, Found* found) {
    extern __shared__ float prefixes[];
    const int lane = threadIdx.x % LANES;
    const bool missing_yes = threadIdx.x >= LANES;
    const u32 node = blockIdx.y;
    const u32 first = first_bin[blockIdx.x];
    const int n_bins = static_cast<int>(first_bin[blockIdx.x + 1] - first) - 1;
    const float* sums = histograms[node].sums + static_cast<u64>(first) * width;
    const u32* counts = histograms[node].counts + first;
    const double* weights = histograms[node].weights + first;
    const float* total = totals + static_cast<u64>(node) * width;
    const double total_weight = total_weights[node];
    const u32 n_rows = total_rows[node];
    Found* out = found + static_cast<u64>(node) * gridDim.x + blockIdx.x;
    int n_filled = 0;
    int last = -1;
    for (int b = 0; b < n_bins; b += WARP) {
        const int bin = b + static_cast<int>(threadIdx.x);
        const u32 filled = __ballot_sync(EVERYONE, bin < n_bins && counts[bin] > 0);
        n_filled += __popc(filled);
        if (filled) last = b + 31 - __clz(filled);
    }
    const u32 n_missing = counts[n_bins];
    if (is_nominal[blockIdx.x] || n_filled + (n_missing > 0) < 2) {
        if (threadIdx.x == 0) *out = {0.0, static_cast<int>(blockIdx.x), 0, 0, 0};
        return;
    }
    float* prefix = prefixes + (missing_yes ? width : 0);
    float square = 0;
    for (int j = lane; j < width; j += LANES) {
        prefix[j] = missing_yes ? sums[static_cast<u64>(n_bins) * width + j] : 0.0f;
        square += total[j] * total[j];
    }
    const double whole = leaf_score(sum_lanes(square), total_weight, l2);
    const double least = 1e-6 * total_weight;
    u32 rows = missing_yes ? n_missing : 0;
    double weight = missing_yes ? weights[n_bins] : 0.0;
    double best = 0;
    int chosen = -1;
    u32 chosen_rows = 0;
    for (int b = 0; b <= last; ++b) {
        if (counts[b] == 0) continue;
        float a = 0;
        float c = 0;
        for (int j = lane; j < width; j += LANES) {
            const float sum = prefix[j] + sums[static_cast<u64>(b) * width + j];
            const float rest = total[j] - sum;
            prefix[j] = sum;
            a += sum * sum;
            c += rest * rest;
        }
        a = sum_lanes(a);
        c = sum_lanes(c);
        rows += counts[b];
        weight += weights[b];
        // Only with missing values on the other side is there a cut after the last bin.
        const bool is_cut = b < last || (!missing_yes && n_missing > 0);
        if (lane > 0 || !is_cut || rows < min_samples_leaf || n_rows - rows < min_samples_leaf) {
            continue;
        }
        const double gain = leaf_score(a, fmax(least, weight), l2) +
                            leaf_score(c, fmax(least, total_weight - weight), l2) - whole;
        if (gain > best) {
            best = gain;
            chosen = b;
            chosen_rows = rows;
        }
    }
    const double other = __shfl_sync(EVERYONE, best, LANES);
    const int other_chosen = __shfl_sync(EVERYONE, chosen, LANES);
    if (threadIdx.x > 0) return;
    int missing_first = n_missing == 0 ? 2 * static_cast<u64>(chosen_rows) > n_rows : 0;
    if (n_missing > 0 && other > best) {
        best = other;
        chosen = other_chosen;
        missing_first = 1;
    }
    int cut = n_bins - 1;
    if (chosen < last) {
        int lower = chosen + 1;
        while (lower < last && counts[lower] == 0) ++lower;
        cut = (chosen + lower - 1) / 2;
    }
    *out = {best, static_cast<int>(blockIdx.x), cut, missing_first, 0};
}

// The first of the features with the largest gain, for each node.
__global__ void choose_features(const Found* found, const int* features, int n_features,
                                Found* best) {
    __shared__ double gains[256];
    __shared__ int places[256];
    const Found* of_node = found + static_cast<u64>(blockIdx.x) * n_features;
    double gain = -1;
    int place = 0;
    for (int i = threadIdx.x; i < n_features; i += blockDim.x) {
        const double other = of_node[i].gain;
        if (other > gain || (other == gain && features[i] < features[place])) {
            gain = other;
            place = i;
        }
    }
    gains[threadIdx.x] = gain;
    places[threadIdx.x] = place;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (u32 t = 1; t < blockDim.x; ++t) {
        if (gains[t] > gain || (gains[t] == gain && features[places[t]] < features[place])) {
            gain = gains[t];
            place = places[t];
        }
    }
    best[blockIdx.x] = of_node[place];
}

// ---- dividing nodes ------------------------------------------------------------------------

__device__ inline bool has_bin(const u32* set, u8 bin) {
    return (set[bin / 32] >> (bin % 32)) & 1u;
}

// The last segment that begins at or before i, or -1 if i is not in it.
__device__ inline int segment_of(const u32* begin, const u32* end, int n_segments, u32 i) {
    int low = 0;
    int high = n_segments;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (begin[middle] <= i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && i < end[low - 1] ? low - 1 : -1;
}

// Whether each row of a segment takes the first branch.
__global__ void test_rows(const u32* rows, u32 n, const u8* bins, u64 n_rows, const u32* begin,
                          const u32* end, const int* feature, const u32* sets, int n_segments,
                          u32* is_yes) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = segment_of(begin, end, n_segments, i);
    is_yes[i] = s >= 0 && has_bin(sets + s * WORDS_OF_SET,
                                  bins[static_cast<u64>(feature[s]) * n_rows + rows[i]]);
}

// Moves the rows of the first branch to the front of their segment; n_yes: inclusive sums.
__global__ void divide_rows(const u32* rows, u32 n, const u32* is_yes, const u32* n_yes,
                            const u32* begin, const u32* end, int n_segments, u32* out) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = segment_of(begin, end, n_segments, i);
    u32 to = i;
    if (s >= 0) {
        const u32 before = begin[s] > 0 ? n_yes[begin[s] - 1] : 0;
        const u32 earlier = n_yes[i] - is_yes[i] - before;
        const u32 all = n_yes[end[s] - 1] - before;
        to = is_yes[i] ? begin[s] + earlier : begin[s] + all + (i - begin[s]) - earlier;
    }
    out[to] = rows[i];
}

// ---- values and margins --------------------------------------------------------------------

// The sums of gradients and curvatures of parts of leaves.
__global__ void sum_gradients(const Rows* of_rows, const u32* rows, const u32* begin,
                              const u32* end, float* gradients, float* curvatures) {
    const Rows data = *of_rows;
    const u32 part = blockIdx.x;
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= data.stride) return;
    float gradient = 0;
    float curvature = 0;
#pragma unroll 4
    for (u32 i = begin[part]; i < end[part]; ++i) {
        const u32 row = rows[i];
        const float weight = data.weight[row];
        const float p = probability(data, data.margins[static_cast<u64>(row) * data.stride + k],
                                    normaliser_of(data, row));
        gradient += weight * p;
        curvature += weight * (p * (1.0f - p));
        if (has_output(data.bits + static_cast<u64>(row) * data.n_words, k)) gradient -= weight;
    }
    gradients[static_cast<u64>(part) * data.stride + k] = gradient;
    curvatures[static_cast<u64>(part) * data.stride + k] = curvature;
}

// One Newton step per output and leaf (x).
__global__ void find_values(const float* gradients, const float* curvatures, const u32* first_part,
                            int stride, int n_outputs, double l2, double learning_rate,
                            float* values) {
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= stride) return;
    const u32 first = first_part[blockIdx.x];
    double gradient = 0;
    double curvature = 0;
    for (u32 begin = first; begin < first_part[blockIdx.x + 1]; begin += PARTS_AT_ONCE) {
        double some_gradients = 0;
        double some_curvatures = 0;
        const u32 end = min(begin + PARTS_AT_ONCE, first_part[blockIdx.x + 1]);
        for (u32 p = begin; p < end; ++p) {
            some_gradients += static_cast<double>(gradients[static_cast<u64>(p) * stride + k]);
            some_curvatures += static_cast<double>(curvatures[static_cast<u64>(p) * stride + k]);
        }
        gradient += some_gradients;
        curvature += some_curvatures;
    }
    const double step = -gradient / fmax(curvature + l2, 1e-12);
    values[static_cast<u64>(blockIdx.x) * stride + k] =
        k < n_outputs ? static_cast<float>(learning_rate * step) : 0.0f;
}

__global__ void find_leaves(const u8* bins, u64 n_rows, const int* feature, const u32* sets,
                            const int* yes, const int* no, const int* leaf, int* out) {
    const u64 row = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    int node = 0;
    while (feature[node] >= 0) {
        const u8 bin = bins[static_cast<u64>(feature[node]) * n_rows + row];
        node = has_bin(sets + node * WORDS_OF_SET, bin) ? yes[node] : no[node];
    }
    out[row] = leaf[node];
}

__global__ void add_values(const int* leaf, const float* values, int stride, float* margins) {
    const float* from = values + static_cast<u64>(leaf[blockIdx.x]) * stride;
    float* to = margins + static_cast<u64>(blockIdx.x) * stride;
    for (int k = threadIdx.x; k < stride; k += blockDim.x) to[k] += from[k];
}

// The loss of a row for every warp.
__global__ void find_losses(const Rows* of_rows, const u32* rows, u32 n, int n_outputs,
                            double* losses) {
    const u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= n) return;
    const Rows data = *of_rows;
    const int lane = threadIdx.x % WARP;
    const u32 row = rows[i];
    const float* margin = data.margins + static_cast<u64>(row) * data.stride;
    const u32* bits = data.bits + static_cast<u64>(row) * data.n_words;
    const Normaliser normaliser = normaliser_of(data, row);
    double sum = 0;
    if (!data.softmax) {
        for (int first = 8 * lane; first < n_outputs; first += 8 * WARP) {
            double product = 1;
            for (int j = first; j < min(first + 8, n_outputs); ++j) {
                product *= 1.0 + static_cast<double>(exp_of(clamp(margin[j], 40.0f)));
            }
            sum += log(product);
        }
    }
    for (int w = lane; w < data.n_words; w += WARP) {
        for (u32 left = bits[w]; left; left &= left - 1) {
            const float x = margin[32 * w + __ffs(left) - 1];
            sum += data.softmax ? static_cast<double>(normaliser.largest - x) -
                                      log(static_cast<double>(normaliser.factor))
                                : -static_cast<double>(clamp(x, 40.0f));
        }
    }
    for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_down_sync(EVERYONE, sum, step);
    if (lane == 0) losses[i] = sum;
}

// ---- predicting ----------------------------------------------------------------------------

struct Trees {
    const u32* first_node;  // per tree
    const int* feature;     // per node; the others likewise
    const double* threshold;
    const u8* missing_yes;
    const int* yes;  // numbers of nodes within the tree
    const int* no;
    const u64* category_indptr;  // per node + 1
    const u8* category_yes;
    const u32* leaf;  // the row of its values
};

// The leaf of a row (x) in a tree (y).
__global__ void reach_leaves(const Trees* of_trees, const void* X, int is_double, u32 n,
                             int n_features, u32* out) {
    const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const Trees trees = *of_trees;
    const u32 root = trees.first_node[blockIdx.y];
    u32 node = root;
    while (trees.feature[node] >= 0) {
        const u64 cell = static_cast<u64>(row) * n_features + trees.feature[node];
        const double value = is_double ? static_cast<const double*>(X)[cell]
                                       : static_cast<double>(static_cast<const float*>(X)[cell]);
        const u64 begin = trees.category_indptr[node];
        const u64 n_codes = trees.category_indptr[node + 1] - begin;
        bool yes = trees.missing_yes[node];
        if (n_codes > 0) {
            if (value >= 0 && value < static_cast<double>(n_codes)) {
                yes = trees.category_yes[begin + static_cast<u64>(value)];
            }
        } else if (!isnan(value)) {
            yes = value > trees.threshold[node];
        }
        node = root + (yes ? trees.yes[node] : trees.no[node]);
    }
    out[static_cast<u64>(row) * gridDim.y + blockIdx.y] = trees.leaf[node];
}

// Adds the values of the leaves of a row (x), tree by tree.
__global__ void add_leaves(const u32* leaf, int n_trees, const float* values, int n_outputs,
                           float* margins) {
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= n_outputs) return;
    const u32* of_row = leaf + static_cast<u64>(blockIdx.x) * n_trees;
    float margin = margins[static_cast<u64>(blockIdx.x) * n_outputs + k];
    for (int t = 0; t < n_trees; ++t) {
        margin += values[static_cast<u64>(of_row[t]) * n_outputs + k];
    }
    margins[static_cast<u64>(blockIdx.x) * n_outputs + k] = margin;
}

}  // extern "C"
