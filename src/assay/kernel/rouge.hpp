// ROUGE-N, -L and -Lsum, as rouge_score computes them.
#pragma once

#include "batch.hpp"
#include "distance.hpp"
#include "intern.hpp"
#include "porter.hpp"

namespace assay {

struct RougeSettings {
    size_t order; // of ROUGE-N; 0 for ROUGE-L
    bool summary, stem;
};

// Rows of 3: precision, recall and F of the reference with the best F. Lines come lowercased.
class Rouge {
  public:
    Rouge(const Batch &batch, const RougeSettings &settings, double *rows)
        : batch_(batch), settings_(settings), rows_(rows) {}

    void operator()(size_t job) {
        const Group group = batch_.group(job);
        vocabulary_.clear();
        references_.resize(std::max(references_.size(), group.references.size()));
        for (size_t at = 0; at < group.references.size(); ++at)
            read(group.references[at], references_[at]);
        batch_.each_member(group, [&](uint32_t member) {
            read(batch_.hypothesis(member), hypothesis_);
            double best = -1, *row = rows_ + 3 * member;
            for (size_t at = 0; at < group.references.size(); ++at) {
                const Counts counts = compare(references_[at], member);
                const double p = ratio(counts.hits, counts.hypothesis);
                const double r = ratio(counts.hits, counts.reference);
                const double f = p + r > 0 ? 2 * p * r / (p + r) : 0;
                if (f > best) best = f, row[0] = p, row[1] = r, row[2] = f;
            }
        });
    }

  private:
    using Sentences = std::vector<Words>;
    struct Counts {
        size_t hits, hypothesis, reference;
    };

    // A pair of sentences, however short, costs as much as so many pairs of words.
    static constexpr double a_pair = 4096;

    static double ratio(size_t a, size_t b) {
        return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
    }

    Counts compare(const Sentences &reference, uint32_t member) {
        try {
            if (settings_.summary) return summary(reference);
            return settings_.order == 0 ? sequences(reference[0]) : ngrams(reference[0]);
        } catch (TooLong &error) {
            error.segment = member;
            throw;
        }
    }

    Counts sequences(const Words &wanted) {
        const Words &hypothesis = hypothesis_[0];
        return {common_.length(hypothesis, wanted), hypothesis.size(), wanted.size()};
    }

    Counts ngrams(const Words &wanted) {
        const Words &hypothesis = hypothesis_[0];
        const size_t n = settings_.order;
        hits_.assign(n, 0);
        trie_.clear();
        trie_.add(wanted.data(), wanted.size(), n);
        trie_.match(hypothesis.data(), hypothesis.size(), n, hits_.data());
        auto total = [n](const Words &words) { return words.size() >= n ? words.size() - n + 1 : 0; };
        return {hits_[n - 1], total(hypothesis), total(wanted)};
    }

    // Hits are the union of the common subsequences with each sentence of the hypothesis;
    // a word is not counted more often than either side has it.
    Counts summary(const Sentences &reference) {
        std::vector<long> left_reference(vocabulary_.size()), left_hypothesis(vocabulary_.size());
        const size_t wanted = tally(reference, left_reference);
        const size_t given = tally(hypothesis_, left_hypothesis);
        const double sentences = pairs(reference.size(), hypothesis_.size());
        if (std::max(pairs(wanted, given), a_pair * sentences) > most_pairs)
            throw TooLong(given, wanted);
        size_t hits = 0;
        for (const Words &sentence : reference) {
            std::vector<bool> in_union(sentence.size());
            // The very subsequence that rouge_score finds.
            for (const Words &candidate : hypothesis_) {
                common_.each(candidate, sentence, [&](size_t at) { in_union[at] = true; });
                worked(50);
            }
            for (size_t at = 0; at < sentence.size(); ++at) {
                const Word word = sentence[at];
                if (!in_union[at] || left_reference[word] <= 0 || left_hypothesis[word] <= 0)
                    continue;
                ++hits, --left_reference[word], --left_hypothesis[word];
            }
        }
        return {hits, given, wanted};
    }

    static size_t tally(const Sentences &sentences, std::vector<long> &counts) {
        size_t total = 0;
        for (const Words &sentence : sentences)
            for (Word word : sentence) ++counts[word], ++total;
        return total;
    }

    // Runs of [a-z0-9]; for a summary, sentence by sentence, a line each.
    void read(const StringView &line, Sentences &out) {
        decode(line, text_);
        worked(8 * line.length);
        out.assign(1, {});
        size_t start = 0;
        bool empty = true;
        for (size_t at = 0; at <= text_.size(); ++at) {
            const char32_t c = at < text_.size() ? text_[at] : U'\n';
            if ((c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9')) {
                empty = false;
                continue;
            }
            if (at > start) out.back().push_back(intern(start, at));
            start = at + 1;
            if (settings_.summary && c == U'\n' && !empty && at < text_.size())
                out.emplace_back(), empty = true;
        }
    }

    Word intern(size_t from, size_t to) {
        const TextView word = TextView(text_).substr(from, to - from);
        if (!settings_.stem || word.size() <= 3) return vocabulary_.intern(word);
        const std::string stem = stem_(std::string(word.begin(), word.end()));
        return vocabulary_.intern(Text(stem.begin(), stem.end()));
    }

    const Batch &batch_;
    RougeSettings settings_;
    double *rows_;
    Porter stem_;
    Vocabulary vocabulary_;
    CommonSubsequence common_;
    NgramTrie trie_;
    std::vector<size_t> hits_;
    std::vector<Sentences> references_;
    Sentences hypothesis_;
    Text text_;
};

} // namespace assay
