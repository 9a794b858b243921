// Words to small whole numbers, and n-grams to nodes of a trie: exact, no hash is trusted.
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "interrupt.hpp"
#include "text.hpp"

namespace assay {

inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ULL;
    return x ^ (x >> 29);
}

// Two code points at a time.
inline uint64_t hash_text(TextView text) {
    constexpr uint64_t prime = 0x9e3779b97f4a7c15ULL;
    const char32_t *at = text.data(), *end = at + text.size();
    uint64_t hash = text.size() * prime;
    for (; at + 1 < end; at += 2) {
        uint64_t two;
        std::memcpy(&two, at, sizeof two);
        hash = (hash ^ two) * prime;
        hash ^= hash >> 32;
    }
    if (at < end) hash = (hash ^ *at) * prime;
    return mix(hash);
}

// Numbers distinct words 0, 1, 2 ... in order of arrival. Owns what it keeps.
class Vocabulary {
  public:
    static constexpr uint32_t unknown = UINT32_MAX;

    void clear() {
        std::fill(slots_.begin(), slots_.end(), unknown);
        starts_.assign(1, 0);
        hashes_.clear();
        letters_.clear();
    }

    size_t size() const { return hashes_.size(); }

    void load() const {
        prefetch(slots_);
        prefetch(hashes_);
        prefetch(starts_);
    }

    TextView operator[](size_t id) const {
        return TextView(letters_).substr(starts_[id], starts_[id + 1] - starts_[id]);
    }

    uint32_t find(TextView word) const {
        if (slots_.empty()) return unknown;
        return slots_[locate(word, hash_text(word))];
    }

    uint32_t intern(TextView word) {
        if (2 * (size() + 1) > slots_.size()) grow();
        const uint64_t hash = hash_text(word);
        uint32_t &slot = slots_[locate(word, hash)];
        if (slot == unknown) {
            slot = static_cast<uint32_t>(size());
            letters_.append(word);
            starts_.push_back(letters_.size());
            hashes_.push_back(hash);
        }
        return slot;
    }

  private:
    size_t locate(TextView word, uint64_t hash) const {
        const size_t mask = slots_.size() - 1;
        size_t at = hash & mask;
        while (slots_[at] != unknown && !(hashes_[slots_[at]] == hash && same(slots_[at], word)))
            at = (at + 1) & mask;
        return at;
    }

    bool same(uint32_t id, TextView word) const {
        const TextView known = (*this)[id];
        return known.size() == word.size() &&
               std::memcmp(known.data(), word.data(), word.size() * sizeof(char32_t)) == 0;
    }

    void grow() {
        slots_.assign(std::max<size_t>(64, 2 * slots_.size()), unknown);
        const size_t mask = slots_.size() - 1;
        for (uint32_t id = 0; id < size(); ++id) {
            size_t at = hashes_[id] & mask;
            while (slots_[at] != unknown) at = (at + 1) & mask;
            slots_[at] = id;
        }
    }

    std::vector<uint32_t> slots_;
    std::vector<size_t> starts_{0};
    std::vector<uint64_t> hashes_;
    Text letters_;
};

// How often each node of a trie was met in the current text. One per thread, for any number of
// tries: every text has a number of its own, so nothing is cleared in between.
class Tally {
  public:
    void begin(size_t nodes) {
        if (met_.size() < nodes) met_.resize(nodes);
        if (++text_ == 0) {
            std::fill(met_.begin(), met_.end(), Met{});
            text_ = 1;
        }
    }

    // For a trie that grows while it is counted.
    uint32_t grown(uint32_t node) {
        if (met_.size() <= node) met_.resize(2 * static_cast<size_t>(node) + 64);
        return (*this)(node);
    }

    uint32_t operator()(uint32_t node) {
        Met &met = met_[node];
        if (met.text != text_) met = {text_, 0};
        return ++met.times;
    }

  private:
    struct Met {
        uint32_t text = 0, times = 0;
    };
    std::vector<Met> met_;
    uint32_t text_ = 0;
};

// The n-grams of the references of one segment, order 1 to N, each a node below its prefix.
// A hypothesis walks down from every position and stops where its n-gram is not there: no longer
// one can be.
//
// Most nodes have one child, which stands in the node itself; the root's children with small
// numbers stand in a table. Only the others are looked up by hash.
class NgramIndex {
  public:
    void clear() {
        if (++epoch_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            epoch_ = 1;
        }
        used_ = 0;
        nodes_.assign(1, Node{});
        limits_.assign(1, 0);
        roots_.assign(roots, 0);
    }

    size_t size() const { return nodes_.size(); }

    // Counts the n-grams of one more reference; of several, the largest count stands.
    template <class Token> void add(const Token *tokens, size_t length, size_t order, Tally &tally) {
        tally.begin(nodes_.size());
        walk_new(tokens, length, order, [&](uint32_t node, size_t) {
            limits_[node] = std::max(limits_[node], tally.grown(node));
        });
    }

    // Adds to matches[n - 1] the clipped number of n-grams that a hypothesis shares.
    template <class Token, class Count>
    void match(const Token *tokens, size_t length, size_t order, Count *matches,
               Tally &tally) const {
        tally.begin(nodes_.size());
        walk(tokens, length, order, [&](uint32_t node, size_t n) {
            if (tally(node) <= limits_[node]) ++matches[n];
        });
    }

    // Calls visit(node, n) for the n-grams of the text that are here; n is the order less one.
    template <class Token, class Visit>
    void walk(const Token *tokens, size_t length, size_t order, Visit visit) const {
        for (size_t at = 0; at < length; ++at) {
            const size_t deepest = std::min(order, length - at);
            if (at % 4096 == 4095) worked(4096 * 16 * order);
            uint32_t node = deepest ? root_child(static_cast<uint32_t>(tokens[at])) : 0;
            for (size_t n = 0; node != 0;) {
                visit(node, n);
                if (++n == deepest) break;
                node = child(node, static_cast<uint32_t>(tokens[at + n]));
            }
        }
    }

    // The same for all n-grams of the text: those that are not here are put here.
    template <class Token, class Visit>
    void walk_new(const Token *tokens, size_t length, size_t order, Visit visit) {
        for (size_t at = 0; at < length; ++at) {
            uint32_t node = 0;
            const size_t deepest = std::min(order, length - at);
            if (at % 4096 == 4095) worked(4096 * 16 * order);
            for (size_t n = 0; n < deepest; ++n) {
                node = child_or_new(node, static_cast<uint32_t>(tokens[at + n]));
                visit(node, n);
            }
        }
    }

  private:
    static constexpr uint32_t roots = 256;

    // `only` is the first child, by `token`; `more` says that there are others.
    struct Node {
        uint32_t token = 0, only : 31, more : 1;
        Node() : only(0), more(0) {}
    };
    struct Slot {
        uint64_t key = 0;
        uint32_t node = 0, epoch = 0;
    };

    static uint64_t key_of(uint32_t node, uint32_t token) {
        return (static_cast<uint64_t>(node) << 32) | token;
    }

    uint32_t root_child(uint32_t token) const {
        if (token < roots) return roots_[token];
        return nodes_[0].more ? looked_up(0, token) : 0;
    }

    uint32_t child(uint32_t node, uint32_t token) const {
        const Node &parent = nodes_[node];
        if (parent.only && parent.token == token) return parent.only;
        return parent.more ? looked_up(node, token) : 0;
    }

    uint32_t looked_up(uint32_t node, uint32_t token) const {
        const uint64_t key = key_of(node, token);
        const Slot &slot = slots_[locate(key)];
        return slot.epoch == epoch_ ? slot.node : 0;
    }

    size_t hashed(uint64_t key) const {
        return static_cast<size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
    }

    uint32_t child_or_new(uint32_t node, uint32_t token) {
        if (node == 0 && token < roots) {
            if (!roots_[token]) roots_[token] = fresh();
            return roots_[token];
        }
        if (node != 0) {
            if (!nodes_[node].only) {
                const uint32_t made = fresh();
                nodes_[node].token = token;
                nodes_[node].only = made;
            }
            if (nodes_[node].token == token) return nodes_[node].only;
        }
        if (2 * (used_ + 1) > slots_.size()) grow();
        const uint64_t key = key_of(node, token);
        Slot &slot = slots_[locate(key)];
        if (slot.epoch != epoch_) {
            nodes_[node].more = 1;
            slot = Slot{key, fresh(), epoch_};
            ++used_;
        }
        return slot.node;
    }

    uint32_t fresh() {
        if (nodes_.size() >= uint32_t{1} << 31) throw std::length_error("too long a line");
        nodes_.push_back(Node{});
        limits_.push_back(0);
        return static_cast<uint32_t>(nodes_.size() - 1);
    }

    size_t locate(uint64_t key) const {
        const size_t mask = slots_.size() - 1;
        size_t at = hashed(key) & mask;
        while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old;
        old.swap(slots_);
        slots_.assign(std::max<size_t>(256, 2 * old.size()), Slot{});
        set_shift(slots_.size());
        for (const Slot &slot : old)
            if (slot.epoch == epoch_) slots_[locate(slot.key)] = slot;
    }

    void set_shift(size_t size) {
        for (shift_ = 63; (size_t{1} << (64 - shift_)) < size;) --shift_;
    }

    std::vector<Slot> slots_;
    std::vector<Node> nodes_;
    std::vector<uint32_t> limits_, roots_;
    size_t used_ = 0;
    int shift_ = 63; // the highest bits of the product are the best mixed
    uint32_t epoch_ = 0;
};

// An index with a tally of its own.
class NgramTrie {
  public:
    void clear() { index_.clear(); }

    template <class Token> void add(const Token *tokens, size_t length, size_t order) {
        index_.add(tokens, length, order, tally_);
    }

    template <class Token, class Count>
    void match(const Token *tokens, size_t length, size_t order, Count *matches) {
        index_.match(tokens, length, order, matches, tally_);
    }

  private:
    NgramIndex index_;
    Tally tally_;
};

} // namespace assay
