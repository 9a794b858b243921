// Bit-parallel edit distance (Myers 1999, Hyyrö 2003), column by column, for short patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

using Word = uint32_t;
using Words = std::vector<Word>;

// Where each word of a text stands in a pattern: `blocks` machine words of bits per position.
class Positions {
  public:
    void build(const Words &pattern, const Words &text) {
        blocks_ = (pattern.size() + 63) / 64;
        bits_.assign(text.size() * blocks_, 0);
        Word largest = 0;
        for (Word word : pattern) largest = word > largest ? word : largest;
        if (slot_.size() <= largest) slot_.resize(largest + 1, none);
        size_t used = 0;
        for (Word word : pattern)
            if (slot_[word] == none) slot_[word] = used++;
        masks_.assign(used * blocks_, 0);
        for (size_t j = 0; j < pattern.size(); ++j)
            masks_[slot_[pattern[j]] * blocks_ + j / 64] |= uint64_t{1} << (j % 64);
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] >= slot_.size() || slot_[text[i]] == none) continue;
            const uint64_t *mask = masks_.data() + slot_[text[i]] * blocks_;
            for (size_t b = 0; b < blocks_; ++b) bits_[i * blocks_ + b] = mask[b];
        }
        for (Word word : pattern) slot_[word] = none;
    }

    size_t blocks() const { return blocks_; }
    const uint64_t *at(size_t i) const { return bits_.data() + i * blocks_; }

  private:
    static constexpr size_t none = SIZE_MAX;
    size_t blocks_ = 0;
    std::vector<uint64_t> bits_, masks_;
    std::vector<size_t> slot_;
};

// One column of the edit distance matrix as vertical differences, and its last value.
struct Column {
    std::vector<uint64_t> plus, minus;
    size_t last = 0;

    void start(size_t length, size_t blocks) {
        plus.assign(blocks, ~uint64_t{0});
        minus.assign(blocks, 0);
        last = length;
    }

    // The next column, for a text word that stands at `equal` in the pattern of `length` words.
    void step(const uint64_t *equal, size_t length) {
        const size_t blocks = plus.size();
        int carry = 1; // the top row grows by one deletion each
        for (size_t b = 0; b < blocks; ++b) {
            uint64_t eq = equal[b];
            const uint64_t pv = plus[b], mv = minus[b], xv = eq | mv;
            if (carry < 0) eq |= 1;
            const uint64_t xh = (((eq & pv) + pv) ^ pv) | eq;
            uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
            const uint64_t top = uint64_t{1} << (b + 1 < blocks ? 63 : (length - 1) % 64);
            const int out = (ph & top) ? 1 : (mh & top) ? -1 : 0;
            ph = (ph << 1) | (carry > 0);
            mh = (mh << 1) | (carry < 0);
            plus[b] = mh | ~(xv | ph);
            minus[b] = ph & xv;
            carry = out;
        }
        last = static_cast<size_t>(static_cast<long long>(last) + carry);
    }
};

} // namespace assay
