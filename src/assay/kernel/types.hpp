// How often each type (a word, or an n-gram of words or characters) is predicted, wanted, matched.
#pragma once

#include <numeric>

#include "batch.hpp"
#include "intern.hpp"
#include "tokenize.hpp"

namespace assay {

struct TypeSettings {
    Scheme scheme;
    std::string_view classes;
    bool characters;
    size_t min_order, max_order;
};

struct TypeEntry {
    uint32_t type, predicted, wanted, matched;
};

// Counts on one thread: its own vocabulary, and entries segment by segment.
class TypeCounter {
  public:
    TypeCounter(const Batch &batch, const TypeSettings &settings)
        : batch_(batch), settings_(settings), tokenize_(settings.scheme, settings.classes) {}

    struct Piece {
        uint32_t segment;
        size_t from, to;
    };
    Vocabulary vocabulary;
    std::vector<TypeEntry> entries;
    std::vector<Piece> pieces;

    void operator()(size_t job) {
        const Group group = batch_.group(job);
        wanted_.clear();
        for (const StringView &reference : group.references) {
            list(reference);
            merge();
        }
        batch_.each_member(group, [&](uint32_t member) {
            list(batch_.hypothesis(member));
            const size_t from = entries.size();
            join();
            pieces.push_back({member, from, entries.size()});
        });
    }

  private:
    struct Count {
        uint32_t type, count;
    };

    // The types of one line, sorted, with their counts.
    void list(const StringView &line) {
        worked(32 * line.length);
        ids_.clear();
        if (settings_.characters) {
            letters_.clear();
            tokenize_.each(line, [this](TextView word) { letters_.append(word); });
            each(letters_.size(), [&](size_t at, size_t n) {
                ids_.push_back(vocabulary.intern(TextView(letters_).substr(at, n)));
            });
        } else {
            words_.clear();
            tokenize_.each(line, [this](TextView word) { words_.push_back(word); });
            each(words_.size(), [&](size_t at, size_t n) { ids_.push_back(intern(at, n)); });
        }
        std::sort(ids_.begin(), ids_.end());
        counts_.clear();
        for (uint32_t id : ids_) {
            if (counts_.empty() || counts_.back().type != id) counts_.push_back({id, 0});
            ++counts_.back().count;
        }
    }

    uint32_t intern(size_t at, size_t n) {
        if (n == 1) return vocabulary.intern(words_[at]);
        letters_.clear();
        for (size_t k = at; k < at + n; ++k) {
            if (k > at) letters_.push_back(U' ');
            letters_.append(words_[k]);
        }
        return vocabulary.intern(letters_);
    }

    template <class Visit> void each(size_t length, Visit visit) const {
        for (size_t n = settings_.min_order; n <= settings_.max_order; ++n)
            for (size_t at = 0; at + n <= length; ++at) {
                visit(at, n);
                if (at % 4096 == 4095) worked(4096 * 64);
            }
    }

    // Of several references, the largest count of a type stands.
    void merge() {
        if (wanted_.empty()) return wanted_.swap(counts_);
        merged_.clear();
        walk(wanted_, counts_, [&](uint32_t type, uint32_t a, uint32_t b) {
            merged_.push_back({type, std::max(a, b)});
        });
        wanted_.swap(merged_);
    }

    void join() {
        walk(counts_, wanted_, [&](uint32_t type, uint32_t predicted, uint32_t wanted) {
            entries.push_back({type, predicted, wanted, std::min(predicted, wanted)});
        });
    }

    template <class Visit>
    static void walk(const std::vector<Count> &a, const std::vector<Count> &b, Visit visit) {
        size_t i = 0, j = 0;
        while (i < a.size() || j < b.size()) {
            if (j == b.size() || (i < a.size() && a[i].type < b[j].type)) {
                visit(a[i].type, a[i].count, 0u), ++i;
            } else if (i == a.size() || b[j].type < a[i].type) {
                visit(b[j].type, 0u, b[j].count), ++j;
            } else {
                visit(a[i].type, a[i].count, b[j].count), ++i, ++j;
            }
        }
    }

    const Batch &batch_;
    TypeSettings settings_;
    Tokenizer tokenize_;
    std::vector<uint32_t> ids_;
    std::vector<Count> counts_, wanted_, merged_;
    std::vector<TextView> words_;
    Text letters_;
};

// Sparse rows as SciPy keeps them, with three columns per type stored one after the other.
struct TypeRows {
    const int64_t *starts;  // of each segment, in entries of `columns`
    const int32_t *columns; // 3 type, 3 type + 1, 3 type + 2, ...
    const int32_t *counts;  // predicted, wanted, matched
    size_t segments, width; // width = 3 types
};

struct TypeMean {
    double beta_squared;
    bool by_frequency; // a type weighs by its frequency in the reference plus k, or else 1
    double k;
};

// The weighted mean of the types' F scores over weighted segments, one set of weights a job.
class TypeScores {
  public:
    TypeScores(const TypeRows &rows, const TypeMean &mean, const double *weights, double *scores)
        : rows_(rows), mean_(mean), weights_(weights), scores_(scores) {}

    void operator()(size_t job) {
        sums_.assign(rows_.width, 0.0);
        const double *weights = weights_ + job * rows_.segments;
        for (size_t segment = 0; segment < rows_.segments; ++segment) {
            const double weight = weights[segment];
            if (segment % 4096 == 4095) worked(4096 * 64);
            if (weight == 0) continue;
            for (int64_t at = rows_.starts[segment]; at < rows_.starts[segment + 1]; at += 3) {
                double *sums = sums_.data() + rows_.columns[at];
                sums[0] += weight * rows_.counts[at];
                sums[1] += weight * rows_.counts[at + 1];
                sums[2] += weight * rows_.counts[at + 2];
            }
        }
        scores_[job] = mean();
    }

  private:
    double mean() const {
        double above = 0, below = 0;
        for (size_t at = 0; at < rows_.width; at += 3) {
            const double predicted = sums_[at], wanted = sums_[at + 1], matched = sums_[at + 2];
            if (!(predicted > 0 || wanted > 0)) continue;
            const double weight = mean_.by_frequency ? wanted + mean_.k : 1.0;
            const double factor = mean_.beta_squared;
            above += weight * ((1 + factor) * matched / (factor * wanted + predicted));
            below += weight;
        }
        return below == 0 ? 0 : above / below;
    }

    TypeRows rows_;
    TypeMean mean_;
    const double *weights_;
    double *scores_;
    std::vector<double> sums_;
};

// The distinct types of all counters in alphabetical order, and each counter's way to them.
class TypeOrder {
  public:
    explicit TypeOrder(const std::vector<TypeCounter> &counters) {
        for (const TypeCounter &counter : counters)
            for (size_t id = 0; id < counter.vocabulary.size(); ++id)
                words_.push_back(counter.vocabulary[id]);
        std::vector<size_t> order(words_.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(),
                  [this](size_t a, size_t b) { return words_[a] < words_[b]; });
        numbers_.resize(words_.size());
        for (size_t at = 0; at < order.size(); ++at) {
            if (at == 0 || words_[order[at]] != words_[order[at - 1]]) types.push_back(words_[order[at]]);
            numbers_[order[at]] = static_cast<int32_t>(types.size() - 1);
        }
        size_t start = 0;
        for (const TypeCounter &counter : counters) {
            starts_.push_back(start);
            start += counter.vocabulary.size();
        }
    }

    std::vector<TextView> types;
    int32_t number(size_t counter, uint32_t id) const { return numbers_[starts_[counter] + id]; }

  private:
    std::vector<TextView> words_;
    std::vector<int32_t> numbers_;
    std::vector<size_t> starts_;
};

// The entries of all counters as sparse rows in the order of the segments.
struct TypeColumns {
    std::vector<int64_t> starts;
    std::vector<int32_t> columns, counts;

    void fill(std::vector<TypeCounter> &counters, const TypeOrder &order, size_t segments) {
        starts.assign(segments + 1, 0);
        for (const TypeCounter &counter : counters)
            for (const auto &piece : counter.pieces)
                starts[piece.segment + 1] = static_cast<int64_t>(3 * (piece.to - piece.from));
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        columns.resize(static_cast<size_t>(starts.back()));
        counts.resize(columns.size());
        for (size_t t = 0; t < counters.size(); ++t) {
            for (const auto &piece : counters[t].pieces) write(counters[t], t, piece, order);
            std::vector<TypeEntry>().swap(counters[t].entries); // they can be large
        }
    }

  private:
    std::vector<std::pair<int32_t, const TypeEntry *>> row_;

    void write(const TypeCounter &counter, size_t t, const TypeCounter::Piece &piece,
               const TypeOrder &order) {
        row_.clear();
        for (size_t at = piece.from; at < piece.to; ++at)
            row_.emplace_back(order.number(t, counter.entries[at].type), &counter.entries[at]);
        std::sort(row_.begin(), row_.end());
        size_t at = static_cast<size_t>(starts[piece.segment]);
        for (const auto &[type, entry] : row_) {
            const uint32_t values[3] = {entry->predicted, entry->wanted, entry->matched};
            for (int32_t which = 0; which < 3; ++which, ++at) {
                columns[at] = 3 * type + which;
                counts[at] = static_cast<int32_t>(values[which]);
            }
        }
    }
};

} // namespace assay
