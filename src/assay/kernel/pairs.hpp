// All pairs of hypotheses and references of a segment, for decoding and reranking: every text is
// read once, and one walk compares a hypothesis with up to 32 references.
#pragma once

#include <limits>

#include "ngrams.hpp"

namespace assay {

// Hypotheses and references of some segments; built with the GIL, read without it.
class PairBatch {
  public:
    struct Texts {
        std::vector<StringView> hypotheses, references;
        size_t first = 0; // the row of its first pair
    };

    PairBatch(nb::handle hypotheses, nb::handle references)
        : hypotheses_(tuples_of(hypotheses)), references_(tuples_of(references)) {
        if (PyTuple_Size(hypotheses_.ptr()) != PyTuple_Size(references_.ptr()))
            throw nb::value_error("every segment needs hypotheses and references");
        for (Py_ssize_t at = 0; at < PyTuple_Size(hypotheses_.ptr()); ++at) {
            segments_.push_back({views(PyTuple_GetItem(hypotheses_.ptr(), at)),
                                 views(PyTuple_GetItem(references_.ptr(), at)), pairs_});
            pairs_ += segments_.back().hypotheses.size() * segments_.back().references.size();
        }
    }

    size_t pairs() const { return pairs_; }
    const std::vector<Texts> &segments() const { return segments_; }

  private:
    static nb::object tuple_of(PyObject *sequence) {
        nb::object tuple = nb::steal<nb::object>(PySequence_Tuple(sequence));
        if (!tuple.is_valid()) throw nb::python_error();
        return tuple;
    }

    static nb::object tuples_of(nb::handle lists) {
        const nb::object outer = tuple_of(lists.ptr());
        const Py_ssize_t size = PyTuple_Size(outer.ptr());
        nb::object out = nb::steal<nb::object>(PyTuple_New(size));
        if (!out.is_valid()) throw nb::python_error();
        for (Py_ssize_t at = 0; at < size; ++at)
            PyTuple_SetItem(out.ptr(), at, tuple_of(PyTuple_GetItem(outer.ptr(), at)).release().ptr());
        return out;
    }

    std::vector<StringView> views(PyObject *texts) {
        std::vector<StringView> out;
        for (Py_ssize_t at = 0; at < PyTuple_Size(texts); ++at)
            out.push_back(strings_.view(PyTuple_GetItem(texts, at)));
        return out;
    }

    nb::object hypotheses_, references_;
    Strings strings_;
    std::vector<Texts> segments_;
    size_t pairs_ = 0;
};

constexpr size_t many = 32; // references that are compared with together

// The n-grams of up to 32 texts and how often each text has each of them.
template <class Count> class ManyCounts {
  public:
    void clear() {
        index_.clear();
        counts_.assign(many, 0);
    }

    template <class Token> void add(const Token *tokens, size_t length, size_t order, size_t text) {
        index_.walk_new(tokens, length, order, [&](uint32_t node, size_t) {
            const size_t at = many * static_cast<size_t>(node);
            if (counts_.size() <= at) counts_.resize(at + many, 0);
            ++counts_[at + text];
        });
    }

    // Adds the clipped matches of each order with each text: matches[many * (n - 1) + text].
    // The k-th time that a hypothesis has an n-gram counts where a text has it k times or more.
    template <class Token>
    void match(const Token *tokens, size_t length, size_t order, Count *matches, Tally &tally) const {
        tally.begin(index_.size());
        index_.walk(tokens, length, order, [&](uint32_t node, size_t n) {
            const Count times = static_cast<Count>(tally(node));
            add_where(counts_.data() + many * static_cast<size_t>(node), times, matches + many * n);
        });
    }

  private:
    static void add_where(const Count *__restrict counts, Count times, Count *__restrict matches) {
        for (size_t at = 0; at < many; ++at)
            matches[at] = static_cast<Count>(matches[at] + (counts[at] >= times));
    }

    NgramIndex index_;
    std::vector<Count> counts_;
};

// A segment with some of its references: one job.
struct PairJob {
    size_t segment, from, to;
};

inline std::vector<PairJob> pair_jobs(const PairBatch &batch) {
    std::vector<PairJob> jobs;
    for (size_t at = 0; at < batch.segments().size(); ++at) {
        const size_t size = batch.segments()[at].references.size();
        for (size_t from = 0; from < size; from += many)
            jobs.push_back({at, from, std::min(size, from + many)});
    }
    return jobs;
}

// No text has more n-grams of one order than characters.
template <class Count> bool fits(const PairBatch::Texts &texts) {
    auto shorter = [](const StringView &text) {
        return text.length < static_cast<size_t>(std::numeric_limits<Count>::max());
    };
    return std::all_of(texts.hypotheses.begin(), texts.hypotheses.end(), shorter) &&
           std::all_of(texts.references.begin(), texts.references.end(), shorter);
}

// Rows as CharacterNgrams gives them, of all pairs.
class CharacterPairs {
  public:
    CharacterPairs(const PairBatch &batch, const std::vector<PairJob> &jobs,
                   const CharacterSettings &settings, double *rows)
        : batch_(batch), jobs_(jobs), settings_(settings), text_(settings), rows_(rows) {}

    void operator()(size_t at) {
        const PairJob &job = jobs_[at];
        const PairBatch::Texts &texts = batch_.segments()[job.segment];
        if (fits<int16_t>(texts)) count(texts, job, small_);
        else count(texts, job, large_);
    }

  private:
    template <class Count> struct Counts {
        ManyCounts<Count> letters, words;
        std::vector<Count> matches;
    };

    template <class Count>
    void count(const PairBatch::Texts &texts, const PairJob &job, Counts<Count> &counts) {
        const size_t split = settings_.char_order;
        vocabulary_.clear();
        counts.letters.clear();
        counts.words.clear();
        for (size_t at = job.from; at < job.to; ++at) {
            text_.read(texts.references[at]);
            ids_.clear();
            for (TextView word : text_.words) ids_.push_back(vocabulary_.intern(word));
            counts.letters.add(text_.letters.data(), text_.letters.size(), split, at - job.from);
            counts.words.add(ids_.data(), ids_.size(), settings_.word_order, at - job.from);
            letter_counts_[at - job.from] = text_.letters.size();
            word_counts_[at - job.from] = ids_.size();
        }
        for (size_t at = 0; at < texts.hypotheses.size(); ++at) {
            text_.read(texts.hypotheses[at]);
            ids_.clear();
            for (TextView word : text_.words) ids_.push_back(vocabulary_.find(word));
            counts.matches.assign(many * settings_.orders(), 0);
            Count *matches = counts.matches.data();
            counts.letters.match(text_.letters.data(), text_.letters.size(), split, matches, tally_);
            counts.words.match(ids_.data(), ids_.size(), settings_.word_order,
                               matches + many * split, tally_);
            const size_t row = texts.first + at * texts.references.size();
            for (size_t other = job.from; other < job.to; ++other)
                write(matches, other - job.from, rows_ + (row + other) * 3 * settings_.orders());
        }
    }

    template <class Count> void write(const Count *matches, size_t other, double *row) const {
        const size_t split = settings_.char_order;
        for (size_t n = 0; n < settings_.orders(); ++n) {
            const auto hits = static_cast<double>(matches[many * n + other]);
            if (n < split)
                count_order(settings_, text_.letters.size(), letter_counts_[other], n, hits,
                            row + 3 * n);
            else
                count_order(settings_, ids_.size(), word_counts_[other], n - split, hits,
                            row + 3 * n);
        }
    }

    const PairBatch &batch_;
    const std::vector<PairJob> &jobs_;
    CharacterSettings settings_;
    CharacterReader text_;
    double *rows_;
    Counts<int16_t> small_;
    Counts<int32_t> large_;
    Vocabulary vocabulary_;
    Tally tally_;
    std::vector<uint32_t> ids_;
    size_t letter_counts_[many] = {}, word_counts_[many] = {};
};

// Rows as WordNgrams gives them, of all pairs.
template <class Tokenizer, class Vocabulary> class WordPairs {
  public:
    WordPairs(const PairBatch &batch, const std::vector<PairJob> &jobs, Scheme scheme,
              std::string_view classes, size_t order, double *rows)
        : batch_(batch), jobs_(jobs), tokenize_(scheme, classes), order_(order), rows_(rows) {}

    void operator()(size_t at) {
        const PairJob &job = jobs_[at];
        const PairBatch::Texts &texts = batch_.segments()[job.segment];
        vocabulary_.clear();
        counts_.clear();
        for (size_t other = job.from; other < job.to; ++other) {
            ids_.clear();
            tokenize_.each(texts.references[other],
                           [&](auto word) { ids_.push_back(vocabulary_.intern(word)); });
            counts_.add(ids_.data(), ids_.size(), order_, other - job.from);
            lengths_[other - job.from] = ids_.size();
        }
        for (size_t hypothesis = 0; hypothesis < texts.hypotheses.size(); ++hypothesis) {
            ids_.clear();
            tokenize_.each(texts.hypotheses[hypothesis],
                           [&](auto word) { ids_.push_back(vocabulary_.find(word)); });
            matches_.assign(many * order_, 0);
            counts_.match(ids_.data(), ids_.size(), order_, matches_.data(), tally_);
            const size_t row = texts.first + hypothesis * texts.references.size();
            for (size_t other = job.from; other < job.to; ++other)
                write(other - job.from, rows_ + (row + other) * (2 + 2 * order_));
        }
    }

  private:
    void write(size_t other, double *row) const {
        row[0] = static_cast<double>(ids_.size());
        row[1] = static_cast<double>(lengths_[other]);
        for (size_t n = 0; n < order_; ++n) {
            row[2 + n] = static_cast<double>(matches_[many * n + other]);
            row[2 + order_ + n] = ids_.size() > n ? static_cast<double>(ids_.size() - n) : 0;
        }
    }

    const PairBatch &batch_;
    const std::vector<PairJob> &jobs_;
    Tokenizer tokenize_;
    size_t order_;
    double *rows_;
    ManyCounts<int32_t> counts_;
    std::vector<int32_t> matches_;
    Vocabulary vocabulary_;
    Tally tally_;
    std::vector<uint32_t> ids_;
    size_t lengths_[many] = {};
};

} // namespace assay
