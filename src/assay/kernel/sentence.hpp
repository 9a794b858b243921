// The n-grams of references of usual length, in a form so small that it can be kept and read again
// without waiting for memory: about 16 bytes a letter.
#pragma once

#include <array>
#include <cstring>
#include <memory>

#include "intern.hpp"
#include "words.hpp"

namespace assay {

// The tokens of some texts as numbers from 1 on, in order of arrival; 0 is for all others.
class Alphabet {
  public:
    static constexpr uint8_t most = 254;

    void clear() {
        low_.fill(0);
        high_.clear();
        size_ = beyond_ = 0;
    }

    size_t size() const { return size_; }

    uint8_t operator()(uint32_t token) const {
        if (token < low_.size()) return low_[token];
        return high_.empty() || token >= limit ? 0 : high_[locate(token)] & 0xff;
    }

    // The token's number, or 0 where there are too many.
    uint8_t add(uint32_t token) {
        if (const uint8_t known = (*this)(token)) return known;
        if (size_ == most || token >= limit) return 0;
        const uint8_t fresh = ++size_;
        if (token < low_.size()) return low_[token] = fresh;
        if (2 * (size_t{beyond_} + 1) > high_.size()) grow();
        ++beyond_;
        high_[locate(token)] = token << 8 | fresh;
        return fresh;
    }

  private:
    static constexpr uint32_t limit = uint32_t{1} << 24;

    size_t locate(uint32_t token) const {
        const size_t mask = high_.size() - 1;
        size_t at = mix(token) & mask;
        while (high_[at] && high_[at] >> 8 != token) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<uint32_t> old;
        old.swap(high_);
        high_.assign(std::max<size_t>(16, 2 * old.size()), 0);
        for (uint32_t slot : old)
            if (slot) high_[locate(slot >> 8)] = slot;
    }

    std::array<uint8_t, 128> low_{};
    std::vector<uint32_t> high_; // token and number
    uint8_t size_ = 0, beyond_ = 0;
};

// A trie whose nodes stand level by level, the children of a node side by side. Most n-grams occur
// once: below such a node there is one way only, which is read from the text itself.
class SentenceIndex {
  public:
    static constexpr uint8_t end = 255; // stands behind every text

    // Where positions are put in order; one for each thread.
    struct Buffers {
        std::vector<uint16_t> order, sorted;
        std::vector<std::pair<uint16_t, uint16_t>> ranges;
    };

    // The texts, each with an end; `starts` are where they begin. False where they have too much.
    bool build(const std::vector<uint8_t> &texts, const std::vector<size_t> &starts, size_t letters,
               size_t order, Buffers &buffers) {
        if (texts.size() > longest) return false;
        nodes_.assign(1, Node{});
        codes_.assign(1, 0);
        text_ = texts;
        text_.resize(texts.size() + padding, end);
        begin(texts, letters, buffers);
        size_t depth = 1;
        for (size_t node = 1, level = nodes_.size(); node < nodes_.size(); ++node) {
            if (node == level) ++depth, level = nodes_.size();
            if (!fill(node, depth, order, starts, buffers)) return false;
        }
        codes_.resize(codes_.size() + padding, 0);
        return true;
    }

    // Adds to matches[n - 1] the clipped number of n-grams that a hypothesis shares. Behind its
    // codes stand `padding` zeros.
    template <class Count>
    void match(const uint8_t *codes, size_t length, size_t order, Count *matches,
               std::vector<uint8_t> &times) const {
        times.assign(nodes_.size(), 0);
        if (order <= 8) count<true>(codes, length, order, matches, times.data());
        else count<false>(codes, length, order, matches, times.data());
    }

    static constexpr size_t padding = 16; // so that eight bytes can be read anywhere

    void load() const {
        prefetch(nodes_);
        prefetch(codes_);
        prefetch(text_);
    }

  private:
    static constexpr size_t longest = 4096; // positions that nodes have numbers for

    // `limit` is how often it counts. It is 0 for what occurs once: `first` is the place in the
    // text behind it. Otherwise it is the first child.
    struct Node {
        uint16_t first = 0;
        uint8_t children = 0, limit = 0;
    };

    // One node for every letter, by its number.
    void begin(const std::vector<uint8_t> &texts, size_t letters, Buffers &buffers) {
        std::array<uint16_t, 256> starts{};
        for (uint8_t code : texts) ++starts[code];
        buffers.ranges.assign(1, {0, 0});
        uint16_t at = 0;
        for (size_t code = 1; code <= letters; ++code) {
            const uint16_t count = starts[code];
            starts[code] = at;
            at = static_cast<uint16_t>(at + count);
            nodes_.push_back(Node{});
            codes_.push_back(static_cast<uint8_t>(code));
            buffers.ranges.emplace_back(starts[code], at);
        }
        buffers.order.resize(at);
        for (size_t place = 0; place < texts.size(); ++place)
            if (texts[place] != end)
                buffers.order[starts[texts[place]]++] = static_cast<uint16_t>(place);
    }

    bool fill(size_t node, size_t depth, size_t order, const std::vector<size_t> &starts,
              Buffers &buffers) {
        const auto [from, to] = buffers.ranges[node];
        if (to - from == 1) {
            nodes_[node].first = static_cast<uint16_t>(buffers.order[from] + depth);
            return true;
        }
        const size_t limit = most_in_one(&buffers.order[from], size_t{to} - from, starts);
        if (limit > UINT8_MAX) return false;
        nodes_[node].limit = static_cast<uint8_t>(limit);
        if (depth == order) return true;
        nodes_[node].first = static_cast<uint16_t>(nodes_.size());
        const size_t kept = sort(&buffers.order[from], size_t{to} - from, depth, buffers);
        for (size_t at = 0; at < kept;) {
            const uint8_t code = text_[buffers.order[from + at] + depth];
            const size_t first = at;
            while (at < kept && text_[buffers.order[from + at] + depth] == code) ++at;
            if (nodes_.size() > UINT16_MAX) return false;
            nodes_.push_back(Node{});
            codes_.push_back(code);
            buffers.ranges.emplace_back(from + first, from + at);
            ++nodes_[node].children;
        }
        return true;
    }

    // Of places that are in order, the most in one text.
    static size_t most_in_one(const uint16_t *places, size_t count,
                              const std::vector<size_t> &starts) {
        if (starts.size() == 1) return count;
        size_t most = 0;
        for (size_t text = 0, at = 0; text < starts.size(); ++text) {
            const size_t next = text + 1 < starts.size() ? starts[text + 1] : SIZE_MAX;
            const size_t before = at;
            while (at < count && places[at] < next) ++at;
            most = std::max(most, at - before);
        }
        return most;
    }

    // Sorts places by what follows `depth` later, those before an end left out. Otherwise their
    // order stays. Gives back how many are left.
    size_t sort(uint16_t *places, size_t count, size_t depth, Buffers &buffers) const {
        size_t kept = 0;
        for (size_t at = 0; at < count; ++at)
            if (text_[places[at] + depth] != end) places[kept++] = places[at];
        if (kept > 24) {
            sort_many(places, kept, depth, buffers);
            return kept;
        }
        for (size_t at = 1; at < kept; ++at) {
            const uint16_t place = places[at];
            const uint8_t code = text_[place + depth];
            size_t to = at;
            for (; to > 0 && text_[places[to - 1] + depth] > code; --to) places[to] = places[to - 1];
            places[to] = place;
        }
        return kept;
    }

    void sort_many(uint16_t *places, size_t count, size_t depth, Buffers &buffers) const {
        std::array<uint16_t, 257> starts{};
        for (size_t at = 0; at < count; ++at) ++starts[text_[places[at] + depth] + size_t{1}];
        for (size_t code = 1; code < starts.size(); ++code)
            starts[code] = static_cast<uint16_t>(starts[code] + starts[code - 1]);
        buffers.sorted.assign(places, places + count);
        for (uint16_t place : buffers.sorted) places[starts[text_[place + depth]]++] = place;
    }

    // How a text goes on is as good as random: there is one branch that cannot be foretold for each
    // node that it comes to, and none for how it ends.
    template <bool Short, class Count>
    void count(const uint8_t *codes, size_t length, size_t order, Count *matches,
               uint8_t *times) const {
        std::array<uint32_t, 257> often, steps; // a run of orders is a step up and a step down
        std::fill_n(often.begin(), order + 1, 0);
        std::fill_n(steps.begin(), order + 1, 0);
        for (size_t at = 0; at < length; ++at) {
            if (at % 4096 == 4095) worked(4096 * 16 * order);
            size_t node = codes[at], n = 0;
            Node here = nodes_[node];
            while (here.limit) {
                const uint8_t more = times[node] < here.limit;
                times[node] = static_cast<uint8_t>(times[node] + more);
                often[n++] += more;
                node = child(here, codes[at + n]);
                here = nodes_[node];
            }
            // Once in the references, or not there at all: then nothing is shared.
            const size_t rest = shared<Short>(&text_[here.first], codes + at + n + 1);
            const size_t to = node ? std::min(order, n + 1 + rest) : n;
            const size_t from = std::max<size_t>(n, times[node]), reached = std::max(from, to);
            ++steps[from], --steps[reached];
            times[node] = static_cast<uint8_t>(reached);
        }
        uint32_t open = 0;
        for (size_t n = 0; n < order; ++n) matches[n] += often[n] + (open += steps[n]);
    }

    // The child with this code, or 0.
    size_t child(const Node &parent, uint8_t code) const {
        const uint8_t *codes = &codes_[parent.first];
        for (size_t at = 0; at < parent.children; at += 8) {
            const size_t found = at + first_equal(codes + at, code);
            if (found < at + 8) return found < parent.children ? parent.first + found : 0;
        }
        return 0;
    }

    // The first of eight bytes that is this one; 8 where none is.
    static size_t first_equal(const uint8_t *bytes, uint8_t wanted) {
        constexpr uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
        if (!little_endian())
            return static_cast<size_t>(std::find(bytes, bytes + 8, wanted) - bytes);
        uint64_t eight;
        std::memcpy(&eight, bytes, 8);
        eight ^= ones * wanted;
        const uint64_t zero = (eight - ones) & ~eight & tops;
        return zero ? lowest_bit(zero) / 8 : 8;
    }

    // With how many bytes both begin; where up to 7 are asked for, all more count as 7.
    template <bool Short> static size_t shared(const uint8_t *text, const uint8_t *codes) {
        for (size_t same = 0;; same += 8) {
            uint64_t ours, theirs;
            std::memcpy(&ours, text + same, 8);
            std::memcpy(&theirs, codes + same, 8);
            const uint64_t differ = ours ^ theirs;
            if (Short && little_endian()) return lowest_bit(differ | uint64_t{1} << 63) / 8;
            if (!differ) continue;
            while (text[same] == codes[same]) ++same;
            return same;
        }
    }

    std::vector<Node> nodes_;
    std::vector<uint8_t> codes_; // of each node
    std::vector<uint8_t> text_;
};

// What a thread needs to make and to compare n-grams; its memory is used again and again.
struct NgramBuffers {
    Tally tally;
    SentenceIndex::Buffers places;
    std::vector<uint32_t> tokens;
    std::vector<size_t> starts, code_starts;
    std::vector<uint8_t> codes, times;

    size_t end_of(size_t text) const {
        return text + 1 < starts.size() ? starts[text + 1] : tokens.size();
    }
};

// The n-grams of references, in a small form where that is possible.
class ReferenceNgrams {
  public:
    // Begins with no reference; `add` each of them, then `finish`.
    static void begin(NgramBuffers &buffers) {
        buffers.tokens.clear();
        buffers.starts.clear();
    }

    template <class Token>
    static void add(const Token *tokens, size_t length, NgramBuffers &buffers) {
        buffers.starts.push_back(buffers.tokens.size());
        buffers.tokens.insert(buffers.tokens.end(), tokens, tokens + length);
    }

    void finish(size_t order, NgramBuffers &buffers) {
        order_ = order;
        small_ = code(buffers) && sentence_.build(buffers.codes, buffers.code_starts,
                                                  alphabet_.size(), order, buffers.places);
        if (small_ || order == 0) return;
        if (!any_) any_ = std::make_unique<NgramIndex>();
        any_->clear();
        for (size_t text = 0; text < buffers.starts.size(); ++text) {
            const size_t from = buffers.starts[text];
            any_->add(&buffers.tokens[from], buffers.end_of(text) - from, order, buffers.tally);
        }
    }

    // Adds to matches[n - 1] the clipped number of n-grams that a hypothesis shares.
    template <class Token, class Count>
    void match(const Token *tokens, size_t length, Count *matches, NgramBuffers &buffers) const {
        if (order_ == 0) return;
        if (!small_) return any_->match(tokens, length, order_, matches, buffers.tally);
        buffers.codes.resize(length + SentenceIndex::padding);
        for (size_t at = 0; at < length; ++at)
            buffers.codes[at] = alphabet_(static_cast<uint32_t>(tokens[at]));
        std::fill_n(buffers.codes.begin() + static_cast<std::ptrdiff_t>(length),
                    SentenceIndex::padding, 0);
        sentence_.match(buffers.codes.data(), length, order_, matches, buffers.times);
    }

    void load() const {
        if (small_) sentence_.load();
    }

    // The same without room for more, to be kept.
    ReferenceNgrams compact() const {
        ReferenceNgrams out;
        out.order_ = order_;
        out.small_ = small_;
        if (small_) out.alphabet_ = alphabet_, out.sentence_ = sentence_;
        else if (any_) out.any_ = std::make_unique<NgramIndex>(*any_);
        return out;
    }

  private:
    // All references as numbers, each with an end; false where there are too many tokens.
    bool code(NgramBuffers &buffers) {
        alphabet_.clear();
        buffers.codes.clear();
        buffers.code_starts.clear();
        if (order_ == 0) return false;
        for (size_t text = 0, at = 0; text < buffers.starts.size(); ++text) {
            buffers.code_starts.push_back(buffers.codes.size());
            for (const size_t to = buffers.end_of(text); at < to; ++at) {
                buffers.codes.push_back(alphabet_.add(buffers.tokens[at]));
                if (!buffers.codes.back()) return false;
            }
            buffers.codes.push_back(SentenceIndex::end);
        }
        return true;
    }

    size_t order_ = 0;
    bool small_ = false;
    Alphabet alphabet_;
    SentenceIndex sentence_;
    std::unique_ptr<NgramIndex> any_;
};

} // namespace assay
