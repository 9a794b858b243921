// Clipped n-gram counts of words (BLEU) and of characters and words (chrF).
#pragma once

#include "batch.hpp"
#include "sentence.hpp"
#include "tokenize.hpp"
#include "words.hpp"

namespace assay {

// The references of one segment, ready to be compared with.
template <class Vocabulary> struct WordReferences {
    Vocabulary vocabulary;
    ReferenceNgrams ngrams;
    std::vector<size_t> lengths;

    WordReferences compact() const { return {vocabulary, ngrams.compact(), lengths}; }

    void load() const {
        vocabulary.load();
        ngrams.load();
        prefetch(lengths);
    }
};

// Makes `WordReferences`, and the numbers of a line's words. Keeps its buffers.
template <class Tokenizer, class Vocabulary> class WordReader {
  public:
    using References = WordReferences<Vocabulary>;

    WordReader(Scheme scheme, std::string_view classes, size_t order)
        : tokenize_(scheme, classes), order_(order) {}

    void prepare(Lines references, References &out) {
        out.vocabulary.clear();
        ReferenceNgrams::begin(buffers_);
        out.lengths.clear();
        for (const StringView &reference : references) {
            ids_.clear();
            tokenize_.each(reference,
                           [&](auto word) { ids_.push_back(out.vocabulary.intern(word)); });
            ReferenceNgrams::add(ids_.data(), ids_.size(), buffers_);
            out.lengths.push_back(ids_.size());
        }
        out.ngrams.finish(order_, buffers_);
    }

    // A word that no reference has gets a number that no node has.
    const std::vector<uint32_t> &ids(const StringView &line, const Vocabulary &vocabulary) {
        ids_.clear();
        tokenize_.each(line, [&](auto word) { ids_.push_back(vocabulary.find(word)); });
        return ids_;
    }

  private:
    Tokenizer tokenize_;
    size_t order_;
    NgramBuffers buffers_;
    std::vector<uint32_t> ids_;
};

// Rows of 2 + 2N: hypothesis length, closest reference length, N matches, N totals.
template <class Tokenizer, class Vocabulary> class WordNgrams {
  public:
    using References = WordReferences<Vocabulary>;

    // `known` are the references of every group where they are ready, or nothing.
    WordNgrams(const Batch &batch, Scheme scheme, std::string_view classes, size_t order,
               double *rows, const std::vector<References> *known)
        : batch_(batch), reader_(scheme, classes, order), order_(order), rows_(rows),
          known_(known) {}

    void operator()(size_t job) {
        const Group group = batch_.group(job);
        batch_.prefetch_group(job + 1);
        if (known_ && job + 1 < known_->size()) (*known_)[job + 1].load();
        if (!known_) reader_.prepare(group.references, fresh_);
        const References &references = known_ ? (*known_)[job] : fresh_;
        batch_.each_member(group, [&](uint32_t member) { count(member, references); });
    }

  private:
    void count(uint32_t member, const References &references) {
        const auto &ids = reader_.ids(batch_.hypothesis(member), references.vocabulary);
        double *row = rows_ + member * (2 + 2 * order_);
        row[0] = static_cast<double>(ids.size());
        row[1] = static_cast<double>(closest(references.lengths, ids.size()));
        references.ngrams.match(ids.data(), ids.size(), row + 2, buffers_);
        for (size_t n = 0; n < order_; ++n)
            row[2 + order_ + n] = ids.size() > n ? static_cast<double>(ids.size() - n) : 0;
    }

    // The reference length nearest to the hypothesis's; of two, the shorter.
    static size_t closest(const std::vector<size_t> &lengths, size_t length) {
        auto distance = [length](size_t other) {
            return other > length ? other - length : length - other;
        };
        size_t best = lengths[0];
        for (size_t other : lengths) {
            if (distance(other) < distance(best) ||
                (distance(other) == distance(best) && other < best))
                best = other;
        }
        return best;
    }

    const Batch &batch_;
    WordReader<Tokenizer, Vocabulary> reader_;
    size_t order_;
    double *rows_;
    const std::vector<References> *known_;
    References fresh_;
    NgramBuffers buffers_;
};

struct CharacterSettings {
    size_t char_order, word_order;
    double beta_squared;
    bool whitespace, eps_smoothing, legacy;
    size_t orders() const { return char_order + word_order; }
};

// One text as chrF sees it: letters, without white space unless that is wanted, and words with
// punctuation cut off. Keeps its buffers; what it gives lives until the next call.
class CharacterReader {
  public:
    explicit CharacterReader(const CharacterSettings &settings) : settings_(settings) {}

    void read(const StringView &line) {
        words.clear();
        if (settings_.word_order > 0) {
            decode(line, original_);
            split(original_, [this](TextView word) { cut(word); });
        }
        if (settings_.whitespace) decode(line, letters);
        else decode_without_spaces(line, letters);
    }

    Text letters;
    std::vector<TextView> words;

  private:
    static bool is_mark(char32_t c) {
        return (c >= 0x21 && c <= 0x2f) || (c >= 0x3a && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
               (c >= 0x7b && c <= 0x7e);
    }

    void cut(TextView word) {
        const size_t last = word.size() - 1;
        if (last > 0 && is_mark(word[last])) {
            words.push_back(word.substr(0, last));
            words.push_back(word.substr(last));
        } else if (last > 0 && is_mark(word[0])) {
            words.push_back(word.substr(0, 1));
            words.push_back(word.substr(1));
        } else {
            words.push_back(word);
        }
    }

    CharacterSettings settings_;
    Text original_;
};

// The references of one segment, ready to be compared with.
struct CharacterReferences {
    struct One {
        ReferenceNgrams letters, words;
        size_t letter_count = 0, word_count = 0;
    };
    Vocabulary vocabulary;
    std::vector<One> each;

    void load() const {
        vocabulary.load();
        for (const One &one : each) one.letters.load(), one.words.load();
    }

    CharacterReferences compact() const {
        CharacterReferences out{vocabulary, {}};
        for (const One &one : each)
            out.each.push_back({one.letters.compact(), one.words.compact(), one.letter_count,
                                one.word_count});
        return out;
    }
};

// The three numbers of an order, as sacreBLEU counts them.
inline void count_order(const CharacterSettings &settings, size_t length, size_t wanted_length,
                        size_t order, double matches, double *out) {
    auto total = [order](size_t size) {
        return size > order ? static_cast<double>(size - order) : 0.0;
    };
    const double wanted = total(wanted_length);
    // sacreBLEU 2 drops the hypothesis's n-grams where the reference has none to match.
    out[0] = wanted > 0 || settings.legacy ? total(length) : 0;
    out[1] = wanted;
    out[2] = matches;
}

// Rows of 3 per order: hypothesis n-grams, reference n-grams, matches, of the best reference.
class CharacterNgrams {
  public:
    using References = CharacterReferences;

    // `known` are the references of every group where they are ready, or nothing.
    CharacterNgrams(const Batch &batch, const CharacterSettings &settings, double *rows,
                    const std::vector<References> *known)
        : batch_(batch), settings_(settings), rows_(rows), known_(known),
          counts_(3 * settings.orders()), text_(settings) {}

    void operator()(size_t job) {
        const Group group = batch_.group(job);
        batch_.prefetch_group(job + 1);
        // What is kept lies in memory: first where it is, then all of it, is loaded ahead.
        if (known_ && job + 2 < known_->size()) prefetch((*known_)[job + 2].each);
        if (known_ && job + 1 < known_->size()) (*known_)[job + 1].load();
        if (!known_) prepare(group.references, fresh_);
        const References &references = known_ ? (*known_)[job] : fresh_;
        batch_.each_member(group, [&](uint32_t member) { count(member, references); });
    }

    void prepare(Lines references, References &out) {
        // sacreBLEU 1.4 looks at the first reference only.
        out.each.resize(settings_.legacy ? 1 : references.size());
        out.vocabulary.clear();
        for (size_t at = 0; at < out.each.size(); ++at) {
            References::One &one = out.each[at];
            text_.read(references[at]);
            ids_.clear();
            for (TextView word : text_.words) ids_.push_back(out.vocabulary.intern(word));
            make(text_.letters.data(), text_.letters.size(), settings_.char_order, one.letters);
            make(ids_.data(), ids_.size(), settings_.word_order, one.words);
            one.letter_count = text_.letters.size();
            one.word_count = ids_.size();
        }
    }

  private:
    template <class Token>
    void make(const Token *tokens, size_t length, size_t order, ReferenceNgrams &out) {
        ReferenceNgrams::begin(buffers_);
        ReferenceNgrams::add(tokens, length, buffers_);
        out.finish(order, buffers_);
    }

    void count(uint32_t member, const References &references) {
        text_.read(batch_.hypothesis(member));
        ids_.clear();
        for (TextView word : text_.words) ids_.push_back(references.vocabulary.find(word));
        double *row = rows_ + member * counts_.size();
        double best = -1;
        for (const References::One &one : references.each) {
            fill(one);
            const double score = references.each.size() == 1 ? 0 : f_score();
            if (score > best) best = score, std::copy(counts_.begin(), counts_.end(), row);
        }
    }

    void fill(const References::One &reference) {
        const size_t split = settings_.char_order;
        matches_.assign(settings_.orders(), 0);
        reference.letters.match(text_.letters.data(), text_.letters.size(), matches_.data(),
                                buffers_);
        reference.words.match(ids_.data(), ids_.size(), matches_.data() + split, buffers_);
        for (size_t n = 0; n < settings_.orders(); ++n) {
            if (n < split)
                count_order(settings_, text_.letters.size(), reference.letter_count, n, matches_[n],
                            &counts_[3 * n]);
            else
                count_order(settings_, ids_.size(), reference.word_count, n - split, matches_[n],
                            &counts_[3 * n]);
        }
    }

    // The segment's own F, as sacreBLEU computes it to choose among references.
    double f_score() const {
        const double factor = settings_.beta_squared, eps = 1e-16;
        double score = 0, precision = 0, recall = 0;
        size_t effective = 0;
        for (size_t n = 0; n < settings_.orders(); ++n) {
            const double hyp = counts_[3 * n], ref = counts_[3 * n + 1], hit = counts_[3 * n + 2];
            const double p = hyp > 0 ? hit / hyp : eps, r = ref > 0 ? hit / ref : eps;
            const double bottom = factor * p + r;
            score += bottom > 0 ? (1 + factor) * p * r / bottom : eps;
            if (hyp > 0 && ref > 0) precision += p, recall += r, ++effective;
        }
        if (settings_.eps_smoothing) return 100 * score / static_cast<double>(settings_.orders());
        if (effective == 0) return 0;
        precision /= static_cast<double>(effective);
        recall /= static_cast<double>(effective);
        if (precision + recall == 0) return 0;
        return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
    }

    const Batch &batch_;
    CharacterSettings settings_;
    double *rows_;
    const std::vector<References> *known_;
    std::vector<double> counts_, matches_;
    CharacterReader text_;
    References fresh_;
    NgramBuffers buffers_;
    std::vector<uint32_t> ids_;
};

} // namespace assay
