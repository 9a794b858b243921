// Words to small whole numbers, and n-grams to nodes of a trie: exact, no hash is trusted.
#pragma once

#include <algorithm>
#include <cstring>

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

// The n-grams of the references of one segment, order 1 to N, each a node below its prefix.
// A hypothesis walks down from every position and stops where its n-gram is not there: no longer
// one can be.
class NgramTrie {
  public:
    void clear() {
        if (++epoch_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            epoch_ = 1;
        }
        used_ = 0;
        nodes_.assign(1, Node{});
        text_ = 0;
    }

    // Counts the n-grams of one more reference; of several, the largest count stands.
    template <class Token> void add(const Token *tokens, size_t length, size_t order) {
        ++text_;
        for (size_t at = 0; at < length; ++at) {
            uint32_t node = 0;
            const size_t deepest = std::min(order, length - at);
            if (at % 4096 == 4095) worked(4096 * 16 * order);
            for (size_t n = 0; n < deepest; ++n) {
                node = child_or_new(node, static_cast<uint32_t>(tokens[at + n]));
                Node &counts = nodes_[node];
                counts.limit = std::max(counts.limit, counts.count(text_));
            }
        }
    }

    // Adds to matches[n - 1] the clipped number of n-grams that a hypothesis shares.
    template <class Token, class Count>
    void match(const Token *tokens, size_t length, size_t order, Count *matches) {
        ++text_;
        for (size_t at = 0; at < length; ++at) {
            uint32_t node = 0;
            const size_t deepest = std::min(order, length - at);
            if (at % 4096 == 4095) worked(4096 * 16 * order);
            for (size_t n = 0; n < deepest; ++n) {
                node = child(node, static_cast<uint32_t>(tokens[at + n]));
                if (node == 0) break;
                Node &counts = nodes_[node];
                if (counts.count(text_) <= counts.limit) ++matches[n];
            }
        }
    }

  private:
    struct Node {
        uint32_t limit = 0, seen = 0, text = 0;
        uint32_t count(uint32_t current) {
            if (text != current) text = current, seen = 0;
            return ++seen;
        }
    };
    struct Slot {
        uint64_t key = 0;
        uint32_t node = 0, epoch = 0;
    };

    static uint64_t key_of(uint32_t node, uint32_t token) {
        return (static_cast<uint64_t>(node) << 32) | token;
    }

    uint32_t child(uint32_t node, uint32_t token) const {
        if (slots_.empty()) return 0;
        const Slot &slot = slots_[locate(key_of(node, token))];
        return slot.epoch == epoch_ ? slot.node : 0;
    }

    uint32_t child_or_new(uint32_t node, uint32_t token) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        const uint64_t key = key_of(node, token);
        Slot &slot = slots_[locate(key)];
        if (slot.epoch != epoch_) {
            slot = Slot{key, static_cast<uint32_t>(nodes_.size()), epoch_};
            nodes_.push_back(Node{});
            ++used_;
        }
        return slot.node;
    }

    size_t locate(uint64_t key) const {
        const size_t mask = slots_.size() - 1;
        size_t at = static_cast<size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
        while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(std::max<size_t>(1024, 2 * slots_.size()));
        old.swap(slots_);
        for (shift_ = 64; (size_t{1} << (64 - shift_)) < slots_.size();) --shift_;
        for (const Slot &slot : old)
            if (slot.epoch == epoch_) slots_[locate(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::vector<Node> nodes_;
    size_t used_ = 0;
    int shift_ = 64; // the highest bits of the product are the best mixed
    uint32_t epoch_ = 0, text_ = 0;
};

} // namespace assay
