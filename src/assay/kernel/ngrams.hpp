// Clipped n-gram counts of words (BLEU) and of characters and words (chrF).
#pragma once

#include "batch.hpp"
#include "intern.hpp"
#include "tokenize.hpp"

namespace assay {

// Rows of 2 + 2N: hypothesis length, closest reference length, N matches, N totals.
class WordNgrams {
  public:
    WordNgrams(const Batch &batch, Scheme scheme, std::string_view classes, size_t order,
               double *rows)
        : batch_(batch), tokenize_(scheme, classes), order_(order), rows_(rows) {}

    void operator()(size_t job) {
        const Group &group = batch_.groups()[job];
        prepare(group);
        for (uint32_t member : group.members) count(member);
    }

  private:
    void prepare(const Group &group) {
        vocabulary_.clear();
        trie_.clear();
        lengths_.clear();
        for (const StringView &reference : group.references) {
            ids_.clear();
            tokenize_.each(reference,
                           [this](TextView word) { ids_.push_back(vocabulary_.intern(word)); });
            trie_.add(ids_.data(), ids_.size(), order_);
            lengths_.push_back(ids_.size());
        }
    }

    void count(uint32_t member) {
        ids_.clear();
        // A word that no reference has gets a number that no node has.
        tokenize_.each(batch_.hypothesis(member),
                       [this](TextView word) { ids_.push_back(vocabulary_.find(word)); });
        worked(16 * batch_.hypothesis(member).length);
        double *row = rows_ + member * (2 + 2 * order_);
        row[0] = static_cast<double>(ids_.size());
        row[1] = static_cast<double>(closest(ids_.size()));
        trie_.match(ids_.data(), ids_.size(), order_, row + 2);
        for (size_t n = 0; n < order_; ++n)
            row[2 + order_ + n] = ids_.size() > n ? static_cast<double>(ids_.size() - n) : 0;
    }

    // The reference length nearest to the hypothesis's; of two, the shorter.
    size_t closest(size_t length) const {
        auto distance = [length](size_t other) {
            return other > length ? other - length : length - other;
        };
        size_t best = lengths_[0];
        for (size_t other : lengths_) {
            if (distance(other) < distance(best) ||
                (distance(other) == distance(best) && other < best))
                best = other;
        }
        return best;
    }

    const Batch &batch_;
    Tokenizer tokenize_;
    size_t order_;
    double *rows_;
    Vocabulary vocabulary_;
    NgramTrie trie_;
    std::vector<uint32_t> ids_;
    std::vector<size_t> lengths_;
};

struct CharacterSettings {
    size_t char_order, word_order;
    double beta_squared;
    bool whitespace, eps_smoothing, legacy;
    size_t orders() const { return char_order + word_order; }
};

// Rows of 3 per order: hypothesis n-grams, reference n-grams, matches, of the best reference.
class CharacterNgrams {
  public:
    CharacterNgrams(const Batch &batch, const CharacterSettings &settings, double *rows)
        : batch_(batch), settings_(settings), rows_(rows), counts_(3 * settings.orders()) {}

    void operator()(size_t job) {
        const Group &group = batch_.groups()[job];
        // sacreBLEU 1.4 looks at the first reference only.
        const size_t used = settings_.legacy ? 1 : group.references.size();
        if (prepared_.size() < used) prepared_.resize(used);
        vocabulary_.clear();
        for (size_t at = 0; at < used; ++at) prepare(group.references[at], prepared_[at]);
        for (uint32_t member : group.members) count(member, used);
    }

  private:
    struct Prepared {
        NgramTrie letters, words;
        size_t letter_count = 0, word_count = 0;
    };

    void prepare(const StringView &reference, Prepared &out) {
        read(reference);
        ids_.clear();
        for (TextView word : words_) ids_.push_back(vocabulary_.intern(word));
        out.letters.clear();
        out.letters.add(letters_.data(), letters_.size(), settings_.char_order);
        out.words.clear();
        out.words.add(ids_.data(), ids_.size(), settings_.word_order);
        out.letter_count = letters_.size();
        out.word_count = ids_.size();
    }

    void count(uint32_t member, size_t used) {
        read(batch_.hypothesis(member));
        ids_.clear();
        for (TextView word : words_) ids_.push_back(vocabulary_.find(word));
        worked(16 * letters_.size() * used);
        double *row = rows_ + member * counts_.size();
        double best = -1;
        for (size_t at = 0; at < used; ++at) {
            fill(prepared_[at]);
            const double score = used == 1 ? 0 : f_score();
            if (score > best) best = score, std::copy(counts_.begin(), counts_.end(), row);
        }
    }

    void fill(Prepared &reference) {
        const size_t split = settings_.char_order;
        std::vector<double> &matches = matches_;
        matches.assign(settings_.orders(), 0);
        reference.letters.match(letters_.data(), letters_.size(), split, matches.data());
        reference.words.match(ids_.data(), ids_.size(), settings_.word_order,
                              matches.data() + split);
        for (size_t n = 0; n < settings_.orders(); ++n) {
            const bool letter = n < split;
            const size_t order = letter ? n : n - split;
            const double hypothesis = total(letter ? letters_.size() : ids_.size(), order);
            const double wanted = total(letter ? reference.letter_count : reference.word_count, order);
            // sacreBLEU 2 drops the hypothesis's n-grams where the reference has none to match.
            counts_[3 * n] = wanted > 0 || settings_.legacy ? hypothesis : 0;
            counts_[3 * n + 1] = wanted;
            counts_[3 * n + 2] = matches[n];
        }
    }

    static double total(size_t length, size_t order) {
        return length > order ? static_cast<double>(length - order) : 0;
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

    // Letters without white space (unless wanted), and words with punctuation cut off.
    void read(const StringView &line) {
        decode(line, letters_);
        words_.clear();
        if (settings_.word_order > 0) {
            original_ = letters_;
            split(original_, [this](TextView word) { cut(word); });
        }
        if (!settings_.whitespace) remove_spaces(letters_);
    }

    static bool is_mark(char32_t c) {
        return (c >= 0x21 && c <= 0x2f) || (c >= 0x3a && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
               (c >= 0x7b && c <= 0x7e);
    }

    void cut(TextView word) {
        const size_t last = word.size() - 1;
        if (last > 0 && is_mark(word[last])) {
            words_.push_back(word.substr(0, last));
            words_.push_back(word.substr(last));
        } else if (last > 0 && is_mark(word[0])) {
            words_.push_back(word.substr(0, 1));
            words_.push_back(word.substr(1));
        } else {
            words_.push_back(word);
        }
    }

    const Batch &batch_;
    CharacterSettings settings_;
    double *rows_;
    std::vector<double> counts_, matches_;
    std::vector<Prepared> prepared_;
    Vocabulary vocabulary_;
    Text letters_, original_;
    std::vector<TextView> words_;
    std::vector<uint32_t> ids_;
};

} // namespace assay
