// The difference of two systems' means over types after segments changed places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace assay {

// In which trials each segment stays with its system: a bit per trial, 32 trials in a word.
class KeptBits {
  public:
    static constexpr size_t width = 32;

    KeptBits(const bool *keep, size_t trials, size_t segments)
        : trials_(trials), segments_(segments),
          words_((trials + width - 1) / width * segments, 0) {
        for (size_t trial = 0; trial < trials; ++trial)
            for (size_t segment = 0; segment < segments; ++segment)
                words_[trial / width * segments + segment] |=
                    static_cast<uint32_t>(keep[trial * segments + segment]) << (trial % width);
    }

    size_t trials() const { return trials_; }
    size_t blocks() const { return (trials_ + width - 1) / width; }
    const uint32_t *block(size_t at) const { return words_.data() + at * segments_; }

  private:
    size_t trials_, segments_;
    std::vector<uint32_t> words_;
};

// Compares one pair of systems in all trials. A type that both have alike in a segment adds the
// same whoever has the segment, so only entries in which they differ are looked at; where a type
// has one of these, which is so for most, it adds one of two terms, and the terms of a segment
// are added up beforehand.
class TypeSwaps {
  public:
    // `rows` are the segments of all systems, one system after the other, `segments` each.
    TypeSwaps(const TypeRows &rows, size_t segments, const TypeMean &mean, const int64_t *pairs,
              const KeptBits &kept, double *differences)
        : rows_(rows), segments_(segments), mean_(mean), pairs_(pairs), kept_(&kept),
          differences_(differences), base_(rows.width / 3), firsts_(rows.width / 3 + 1),
          above_(segments), below_(segments) {}

    void operator()(size_t pair) {
        gather(static_cast<size_t>(pairs_[2 * pair]), static_cast<size_t>(pairs_[2 * pair + 1]));
        for (size_t block = 0; block < kept_->blocks(); ++block)
            compare(kept_->block(block),
                    differences_ + pair * kept_->trials() + block * KeptBits::width,
                    std::min(KeptBits::width, kept_->trials() - block * KeptBits::width));
    }

  private:
    struct Counts {
        int32_t predicted, wanted, matched;
        bool operator==(const Counts &other) const {
            return predicted == other.predicted && wanted == other.wanted && matched == other.matched;
        }
        Counts &operator+=(const Counts &other) {
            predicted += other.predicted;
            wanted += other.wanted;
            matched += other.matched;
            return *this;
        }
    };
    struct Entry {
        uint32_t type, segment;
        Counts own, other;
    };
    struct Term {
        double above, below;
    };
    // A type with several entries: its counts for the first system where all are the second's,
    // and for both systems together.
    struct Type {
        uint32_t from, to;
        Counts least, sum;
    };

    TypeRows rows_;
    size_t segments_;
    TypeMean mean_;
    const int64_t *pairs_;
    const KeptBits *kept_;
    double *differences_;
    std::vector<Counts> base_;
    std::vector<uint32_t> firsts_;
    std::vector<double> above_, below_;
    std::vector<Entry> entries_, sorted_;
    std::vector<Type> types_;
    Term fixed_{}, both_{};

    Term term(const Counts &counts) const {
        if (!(counts.predicted > 0 || counts.wanted > 0)) return {0, 0};
        const double factor = mean_.beta_squared;
        const double weight = mean_.by_frequency ? counts.wanted + mean_.k : 1.0;
        return {weight * ((1 + factor) * counts.matched / (factor * counts.wanted + counts.predicted)),
                weight};
    }

    void gather(size_t first, size_t second) {
        std::fill(base_.begin(), base_.end(), Counts{});
        std::fill(firsts_.begin(), firsts_.end(), 0u);
        std::fill(above_.begin(), above_.end(), 0.0);
        std::fill(below_.begin(), below_.end(), 0.0);
        entries_.clear();
        for (size_t segment = 0; segment < segments_; ++segment)
            merge(first * segments_ + segment, second * segments_ + segment, segment);
        for (const Entry &entry : entries_) ++firsts_[entry.type + 1];
        for (size_t type = 1; type < firsts_.size(); ++type) firsts_[type] += firsts_[type - 1];
        sorted_.resize(entries_.size());
        std::vector<uint32_t> next(firsts_.begin(), firsts_.end());
        for (const Entry &entry : entries_) sorted_[next[entry.type]++] = entry;
        summarise();
    }

    Counts counts_at(int64_t at) const {
        return {rows_.counts[at], rows_.counts[at + 1], rows_.counts[at + 2]};
    }

    void merge(size_t one, size_t other, size_t segment) {
        int64_t a = rows_.starts[one], b = rows_.starts[other];
        const int64_t a_end = rows_.starts[one + 1], b_end = rows_.starts[other + 1];
        while (a < a_end || b < b_end) {
            const bool left = b == b_end || (a < a_end && rows_.columns[a] <= rows_.columns[b]);
            const bool right = a == a_end || (b < b_end && rows_.columns[b] <= rows_.columns[a]);
            const auto type = static_cast<uint32_t>(rows_.columns[left ? a : b] / 3);
            const Counts own = left ? counts_at(a) : Counts{}, theirs = right ? counts_at(b) : Counts{};
            if (own == theirs) base_[type] += own;
            else entries_.push_back({type, static_cast<uint32_t>(segment), own, theirs});
            a += left ? 3 : 0;
            b += right ? 3 : 0;
        }
    }

    // The first system's terms are fixed_, plus what kept segments add; both_ is what both systems
    // have together, whatever changes places.
    void summarise() {
        types_.clear();
        fixed_ = both_ = {0, 0};
        for (size_t type = 0; type < base_.size(); ++type) {
            const uint32_t from = firsts_[type], to = firsts_[type + 1];
            if (to - from > 1) {
                Type found{from, to, base_[type], base_[type]};
                found.sum += base_[type];
                for (uint32_t at = from; at < to; ++at) {
                    found.least += sorted_[at].other;
                    found.sum += sorted_[at].own;
                    found.sum += sorted_[at].other;
                }
                types_.push_back(found);
                continue;
            }
            Counts with = base_[type], without = base_[type];
            if (to > from) {
                with += sorted_[from].own;
                without += sorted_[from].other;
            }
            const Term kept = term(with), swapped = term(without);
            fixed_.above += swapped.above;
            fixed_.below += swapped.below;
            both_.above += kept.above + swapped.above;
            both_.below += kept.below + swapped.below;
            if (to > from) {
                above_[sorted_[from].segment] += kept.above - swapped.above;
                below_[sorted_[from].segment] += kept.below - swapped.below;
            }
        }
    }

    void compare(const uint32_t *kept, double *out, size_t trials) {
        constexpr size_t width = KeptBits::width;
        double above[width], below[width], other_above[width], other_below[width];
        std::fill(above, above + width, fixed_.above);
        std::fill(below, below + width, fixed_.below);
        for (size_t segment = 0; segment < segments_; ++segment) {
            const double up = above_[segment], down = below_[segment];
            if (up == 0 && down == 0) continue;
            for (size_t k = 0; k < width; ++k) {
                const double bit = (kept[segment] >> k) & 1;
                above[k] += bit * up;
                below[k] += bit * down;
            }
        }
        for (size_t k = 0; k < width; ++k) {
            other_above[k] = both_.above - above[k];
            other_below[k] = both_.below - below[k];
        }
        for (const Type &type : types_) add(type, kept, above, below, other_above, other_below);
        for (size_t k = 0; k < trials; ++k)
            out[k] = mean(above[k], below[k]) - mean(other_above[k], other_below[k]);
    }

    void add(const Type &type, const uint32_t *kept, double *above, double *below,
             double *other_above, double *other_below) const {
        constexpr size_t width = KeptBits::width;
        int32_t predicted[width], wanted[width], matched[width];
        std::fill(predicted, predicted + width, type.least.predicted);
        std::fill(wanted, wanted + width, type.least.wanted);
        std::fill(matched, matched + width, type.least.matched);
        for (uint32_t at = type.from; at < type.to; ++at) {
            const Entry &entry = sorted_[at];
            const uint32_t bits = kept[entry.segment];
            const int32_t more = entry.own.predicted - entry.other.predicted;
            const int32_t hits = entry.own.matched - entry.other.matched;
            for (size_t k = 0; k < width; ++k) {
                const int32_t mask = (bits & (uint32_t{1} << k)) ? -1 : 0;
                predicted[k] += mask & more;
                matched[k] += mask & hits;
            }
            if (const int32_t extra = entry.own.wanted - entry.other.wanted)
                for (size_t k = 0; k < width; ++k) wanted[k] += (bits >> k) & 1 ? extra : 0;
        }
        for (size_t k = 0; k < width; ++k) {
            add_term(predicted[k], wanted[k], matched[k], above[k], below[k]);
            add_term(type.sum.predicted - predicted[k], type.sum.wanted - wanted[k],
                     type.sum.matched - matched[k], other_above[k], other_below[k]);
        }
    }

    // As `term`, without a branch: a type that is not there has no match, and no weight.
    void add_term(int32_t predicted, int32_t wanted, int32_t matched, double &above,
                  double &below) const {
        const double factor = mean_.beta_squared;
        const double there = (predicted | wanted) != 0 ? 1.0 : 0.0;
        const double weight = mean_.by_frequency ? there * (wanted + mean_.k) : there;
        above += weight * ((1 + factor) * matched / (factor * wanted + predicted + (1 - there)));
        below += weight;
    }

    // Differences of sums are not exact: what is left of no weight at all is rounding.
    static double mean(double above, double below) { return below > 1e-9 ? above / below : 0; }
};

} // namespace assay
