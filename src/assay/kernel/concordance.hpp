// Pairs of scores: ordered as by people, tied, or within a threshold of each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace assay {

// Two metrics' scores and people's, as ranks from 0; a unit's scores change places together.
struct RankedScores {
    const int32_t *first, *second, *human, *unit;
    size_t size, levels, units;
};

// Counts pairs that agree, disagree and are tied, for both metrics after each trial's swaps.
class SwappedConcordance {
  public:
    static constexpr size_t width = 5;

    SwappedConcordance(const RankedScores &scores, const bool *swaps, int64_t *out)
        : scores_(scores), swaps_(swaps), out_(out), order_(scores.size), keys_(scores.size),
          tree_(scores.levels + 1), at_(scores.levels), within_(scores.levels) {
        std::iota(order_.begin(), order_.end(), 0u);
        std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
            return scores.human[a] < scores.human[b];
        });
    }

    void operator()(size_t trial) {
        const bool *swap = swaps_ + trial * scores_.units;
        for (size_t side = 0; side < 2; ++side) {
            for (size_t k = 0; k < order_.size(); ++k) {
                const uint32_t at = order_[k];
                const bool second = swap[scores_.unit[at]] != (side == 1);
                keys_[k] = second ? scores_.second[at] : scores_.first[at];
            }
            count(out_ + (2 * trial + side) * width);
        }
    }

  private:
    RankedScores scores_;
    const bool *swaps_;
    int64_t *out_;
    std::vector<uint32_t> order_;
    std::vector<int32_t> keys_, tree_, at_, within_;

    // Scores come in people's order; those before have lower human scores, or the same.
    void count(int64_t *out) {
        std::fill(tree_.begin(), tree_.end(), 0);
        std::fill(at_.begin(), at_.end(), 0);
        int64_t agree = 0, disagree = 0, human_ties = 0, crossed = 0, both = 0;
        const size_t size = keys_.size();
        for (size_t from = 0, to; from < size; from = to) {
            const int32_t rank = scores_.human[order_[from]];
            for (to = from; to < size && scores_.human[order_[to]] == rank; ++to) {
                const int64_t below = lower(keys_[to]), equal = at_[keys_[to]];
                agree += below;
                crossed += equal;
                disagree += static_cast<int64_t>(from) - below - equal;
            }
            for (size_t k = from; k < to; ++k) both += within_[keys_[k]]++;
            for (size_t k = from; k < to; ++k) {
                within_[keys_[k]] = 0;
                insert(keys_[k]);
            }
            const auto members = static_cast<int64_t>(to - from);
            human_ties += members * (members - 1) / 2;
        }
        const int64_t found[width] = {agree, disagree, human_ties, crossed + both, both};
        std::copy(found, found + width, out);
    }

    int64_t lower(int32_t key) const {
        int64_t sum = 0;
        for (int32_t k = key; k > 0; k &= k - 1) sum += tree_[k];
        return sum;
    }

    void insert(int32_t key) {
        ++at_[key];
        const auto size = static_cast<int32_t>(tree_.size());
        for (int32_t k = key + 1; k < size; k += k & -k) ++tree_[k];
    }
};

// Scores in ascending order within each group, with people's ranks.
struct SortedScores {
    const double *values;
    const int32_t *human;
    const int64_t *starts;
    size_t groups;
};

// Calls visit(p, from, to) where the scores from, ..., to - 1 are above that of p by more than
// `low` and by no more than `high`.
template <class Visit>
void each_range(const SortedScores &scores, double low, double high, Visit visit) {
    for (size_t group = 0; group < scores.groups; ++group) {
        const auto first = static_cast<size_t>(scores.starts[group]);
        const auto last = static_cast<size_t>(scores.starts[group + 1]);
        size_t from = first, to = first;
        for (size_t p = first; p < last; ++p) {
            from = std::max(from, p + 1);
            while (from < last && !(scores.values[from] - scores.values[p] > low)) ++from;
            to = std::max(to, from);
            while (to < last && !(scores.values[to] - scores.values[p] > high)) ++to;
            if (from < to) visit(p, from, to);
        }
    }
}

// How many pairs with a difference in each window people tie, and order as the metric does.
class PairWindows {
  public:
    PairWindows(const SortedScores &scores, const double *edges, int64_t *out, double *sizes)
        : scores_(scores), edges_(edges), out_(out), sizes_(sizes) {}

    void operator()(size_t window) {
        int64_t ties = 0, right = 0;
        double least = edges_[window + 1], most = edges_[window];
        each_range(scores_, edges_[window], edges_[window + 1], [&](size_t p, size_t from, size_t to) {
            const int32_t human = scores_.human[p];
            int32_t equal = 0, above = 0;
            for (size_t q = from; q < to; ++q) {
                equal += scores_.human[q] == human;
                above += scores_.human[q] > human;
            }
            ties += equal;
            right += above;
            least = std::min(least, scores_.values[from] - scores_.values[p]);
            most = std::max(most, scores_.values[to - 1] - scores_.values[p]);
        });
        // Scores that do not differ are not in order, whatever people say.
        out_[2 * window] = ties;
        out_[2 * window + 1] = edges_[window + 1] > 0 ? right : 0;
        sizes_[2 * window] = least;
        sizes_[2 * window + 1] = most;
    }

  private:
    SortedScores scores_;
    const double *edges_;
    int64_t *out_;
    double *sizes_;
};

#if defined(__GNUC__)
typedef uint64_t Lane __attribute__((vector_size(16)));
#else
using Lane = uint64_t;
#endif
constexpr size_t lane_words = sizeof(Lane) / sizeof(uint64_t);

// One row of bits per unit and metric: in which trials that metric's scores are on the first side.
// A row of zeros stands at the end.
class SideBits {
  public:
    SideBits(const uint64_t *words, size_t rows, size_t width)
        : rows_(rows), lanes_((width + lane_words - 1) / lane_words),
          bits_((rows + 1) * lanes_, Lane{}) {
        for (size_t row = 0; row < rows; ++row)
            std::memcpy(static_cast<void *>(bits_.data() + row * lanes_), words + row * width,
                        width * sizeof(uint64_t));
    }

    size_t rows() const { return rows_; }
    size_t lanes() const { return lanes_; }
    const Lane *row(size_t at) const { return bits_.data() + at * lanes_; }

  private:
    size_t rows_, lanes_;
    std::vector<Lane> bits_;
};

// Counts, for every trial at once, how many of the pairs added have both members on the first
// side. Bit k of all counts lies in plane k, so adding a pair is a few logical operations for 128
// trials; pairs come 32 at a time, and carries move up once for all of them (Harley and Seal).
class BitCounter {
  public:
    explicit BitCounter(const SideBits &bits)
        : bits_(&bits), planes_(planes * bits.lanes(), Lane{}) {}

    void add(uint32_t one, uint32_t other) {
        ones_[waiting_] = one;
        others_[waiting_] = other;
        if (++waiting_ == batch) carry();
    }

    // Adds the counts to out, one per trial, and starts again.
    void drain(int64_t *out, size_t trials) {
        const auto nothing = static_cast<uint32_t>(bits_->rows());
        while (waiting_ > 0) add(nothing, nothing);
        const size_t lanes = bits_->lanes();
        std::vector<uint64_t> words(lanes * lane_words);
        for (size_t plane = 0; plane < planes; ++plane) {
            std::memcpy(words.data(), planes_.data() + plane * lanes, lanes * sizeof(Lane));
            for (size_t trial = 0; trial < trials; ++trial)
                out[trial] += static_cast<int64_t>((words[trial / 64] >> (trial % 64)) & 1) << plane;
        }
        std::fill(planes_.begin(), planes_.end(), Lane{});
    }

    static constexpr size_t batch = 32, planes = 24;
    static constexpr size_t most = size_t{1} << (planes - 1);

  private:
    const SideBits *bits_;
    std::vector<Lane> planes_;
    uint32_t ones_[batch], others_[batch];
    size_t waiting_ = 0;

    static void full_add(Lane &high, Lane &low, Lane a, Lane b) {
        const Lane differ = low ^ a;
        high = (low & a) | (differ & b);
        low = differ ^ b;
    }

    void carry() {
        const size_t lanes = bits_->lanes();
        const Lane *left[batch], *right[batch];
        for (size_t k = 0; k < batch; ++k) {
            left[k] = bits_->row(ones_[k]);
            right[k] = bits_->row(others_[k]);
        }
        for (size_t lane = 0; lane < lanes; ++lane) {
            Lane *plane = planes_.data() + lane;
            Lane one = plane[0], two = plane[lanes], four = plane[2 * lanes],
                 eight = plane[3 * lanes], sixteen = plane[4 * lanes];
            Lane twos[2], fours[2], eights[2], sixteens[2], up;
            size_t k = 0;
            auto next = [&] {
                const Lane both = left[k][lane] & right[k][lane];
                ++k;
                return both;
            };
            for (Lane &sixteenth : sixteens) {
                for (Lane &eighth : eights) {
                    for (Lane &fourth : fours) {
                        for (Lane &pair : twos) {
                            const Lane a = next(), b = next();
                            full_add(pair, one, a, b);
                        }
                        full_add(fourth, two, twos[0], twos[1]);
                    }
                    full_add(eighth, four, fours[0], fours[1]);
                }
                full_add(sixteenth, eight, eights[0], eights[1]);
            }
            full_add(up, sixteen, sixteens[0], sixteens[1]);
            plane[0] = one;
            plane[lanes] = two;
            plane[2 * lanes] = four;
            plane[3 * lanes] = eight;
            plane[4 * lanes] = sixteen;
            for (size_t level = 5; level < planes; ++level) {
                Lane &bit = plane[level * lanes];
                const Lane over = bit & up;
                bit ^= up;
                up = over;
            }
        }
        waiting_ = 0;
    }
};

// PairWindows of the first side after every trial's swaps. The second side follows from the
// degrees: in how many pairs of a window each row of bits takes part.
class SwappedWindows {
  public:
    SwappedWindows(const SortedScores &scores, const int32_t *rows, const SideBits &bits,
                   const double *edges, size_t trials, int64_t *counts, int32_t *degrees)
        : scores_(scores), rows_(rows), edges_(edges), trials_(trials), row_count_(bits.rows()),
          counts_(counts), degrees_(degrees), counters_(2, BitCounter(bits)) {}

    void operator()(size_t window) {
        int64_t *counts = counts_ + 2 * window * trials_;
        int32_t *degrees = degrees_ + 2 * window * row_count_;
        const bool apart = edges_[window + 1] > 0;
        size_t added = 0;
        each_range(scores_, edges_[window], edges_[window + 1], [&](size_t p, size_t from, size_t to) {
            const int32_t human = scores_.human[p];
            const int32_t row = rows_[p];
            for (size_t q = from; q < to; ++q) {
                const int32_t theirs = scores_.human[q];
                // Scores of one unit by different metrics are never on the same side.
                if (theirs < human || (theirs > human && !apart) || (rows_[q] ^ row) == 1) continue;
                const size_t kind = theirs > human;
                counters_[kind].add(static_cast<uint32_t>(row), static_cast<uint32_t>(rows_[q]));
                ++degrees[kind * row_count_ + static_cast<size_t>(row)];
                ++degrees[kind * row_count_ + static_cast<size_t>(rows_[q])];
                if (++added == BitCounter::most) {
                    drain(counts);
                    added = 0;
                }
            }
        });
        drain(counts);
    }

  private:
    SortedScores scores_;
    const int32_t *rows_;
    const double *edges_;
    size_t trials_, row_count_;
    int64_t *counts_;
    int32_t *degrees_;
    std::vector<BitCounter> counters_;

    void drain(int64_t *counts) {
        for (size_t kind = 0; kind < 2; ++kind) counters_[kind].drain(counts + kind * trials_, trials_);
    }
};

} // namespace assay
