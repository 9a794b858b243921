// Edit distance and longest common subsequence of two texts, 64 positions of one at a time, in
// memory linear in both.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "interrupt.hpp"

namespace assay {

// Two texts whose comparison would take longer than anybody wants to wait.
struct TooLong : std::length_error {
    TooLong(size_t hypothesis, size_t reference)
        : std::length_error("too long to compare"), hypothesis(hypothesis), reference(reference) {}
    size_t hypothesis, reference, segment = 0;
};

// So many pairs of positions are compared for two texts, some five minutes' work.
constexpr double most_pairs = 1e13;

inline double pairs(size_t a, size_t b) { return static_cast<double>(a) * static_cast<double>(b); }

// A part of a text: words or characters, each a number.
struct Span {
    const Word *data = nullptr;
    size_t size = 0;

    Span() = default;
    Span(const Words &words) : data(words.data()), size(words.size()) {}
    Word operator[](size_t at) const { return data[at]; }
    void remove_prefix(size_t count) { data += count, size -= count; }
};

inline size_t common_prefix(const Span &a, const Span &b) {
    const size_t most = std::min(a.size, b.size);
    return static_cast<size_t>(std::mismatch(a.data, a.data + most, b.data).first - a.data);
}

inline size_t common_suffix(const Span &a, const Span &b) {
    size_t count = 0;
    const size_t most = std::min(a.size, b.size);
    while (count < most && a[a.size - 1 - count] == b[b.size - 1 - count]) ++count;
    return count;
}

// How many words at both ends of the texts are the same; the texts lose them.
inline size_t trim(Span &a, Span &b) {
    const size_t start = common_prefix(a, b);
    a.remove_prefix(start), b.remove_prefix(start);
    const size_t end = common_suffix(a, b);
    a.size -= end, b.size -= end;
    return start + end;
}

// Where each word stands in a piece of the pattern: up to four machine words of bits.
class Masks {
  public:
    static constexpr size_t blocks = 4, positions = 64 * blocks;
    using Row = uint64_t[blocks];

    // Room for every word of both texts.
    void reserve(const Span &a, const Span &b) {
        Word largest = 0; // or a little more
        for (size_t at = 0; at < a.size; ++at) largest |= a[at];
        for (size_t at = 0; at < b.size; ++at) largest |= b[at];
        if (bits_.size() <= blocks * size_t{largest})
            bits_.resize(blocks * (size_t{largest} + 1), 0);
    }

    void set(const Word *piece, size_t length) {
        for (size_t at = 0; at < length; ++at)
            bits_[blocks * size_t{piece[at]} + at / 64] |= uint64_t{1} << (at % 64);
    }

    void clear(const Word *piece, size_t length) {
        for (size_t at = 0; at < length; ++at)
            std::fill_n(bits_.data() + blocks * size_t{piece[at]}, blocks, 0);
    }

    const uint64_t *operator[](Word word) const { return bits_.data() + blocks * size_t{word}; }

  private:
    std::vector<uint64_t> bits_;
};

// So many words of the text are gone through between two looks at the watch.
constexpr size_t stretch = size_t{1} << 18;

inline size_t bits_in(uint64_t word) { return std::bitset<64>(word).count(); }

// Insertions, deletions and substitutions that turn one text into the other (Myers 1999, Hyyrö
// 2003): vertical differences in registers, horizontal ones handed from piece to piece, and of long
// texts only what is near enough to the diagonal (Ukkonen 1985).
class EditDistance {
  public:
    size_t operator()(const Words &hypothesis, const Words &reference) {
        Span text(hypothesis), pattern(reference);
        trim(text, pattern);
        if (text.size < pattern.size) std::swap(text, pattern);
        if (pattern.size == 0) return text.size;
        masks_.reserve(text, pattern);
        if (pattern.size <= Masks::positions) return whole(text, pattern);
        // Texts that have too much to compare may still be nearly the same: that is soon found out.
        const bool too_long = pairs(text.size, pattern.size) > most_pairs;
        const double allowed = too_long ? most_pairs / 16 : most_pairs;
        // No distance is larger than the longer text.
        for (size_t most = std::max(text.size - pattern.size, size_t{2} * Masks::positions);;
             most *= 4) {
            most = 2 * most < text.size ? most : text.size;
            if (pairs(most, pattern.size) > allowed)
                throw TooLong(hypothesis.size(), reference.size());
            const size_t found = near_diagonal(text, pattern, most);
            if (found <= most) return found;
        }
    }

  private:
    struct Piece {
        uint64_t plus[Masks::blocks], minus[Masks::blocks];
        size_t length;
        size_t blocks() const { return (length + 63) / 64; }
        void start(size_t size) {
            length = size;
            std::fill_n(plus, Masks::blocks, ~uint64_t{0});
            std::fill_n(minus, Masks::blocks, 0);
        }
    };

    // A pattern that fits into one piece.
    size_t whole(const Span &text, const Span &pattern) {
        masks_.set(pattern.data, pattern.size);
        piece_.start(pattern.size);
        for (size_t at = 0; at < text.size; at += stretch)
            go<false>(text.data + at, std::min(stretch, text.size - at), nullptr);
        masks_.clear(pattern.data, pattern.size);
        size_t plus = text.size, minus = 0;
        for (size_t b = 0; b < piece_.blocks(); ++b) {
            const size_t used = std::min<size_t>(64, pattern.size - 64 * b);
            const uint64_t rows = ~uint64_t{0} >> (64 - used);
            plus += bits_in(piece_.plus[b] & rows), minus += bits_in(piece_.minus[b] & rows);
        }
        return plus - minus;
    }

    // The distance where it is at most `most`; something larger otherwise. Whatever way costs no
    // more is never farther from the diagonal than `left` and `right`; beyond them, the way along
    // the edge stands for all others.
    size_t near_diagonal(const Span &text, const Span &pattern, size_t most) {
        const size_t longer = text.size - pattern.size;
        const size_t left = (most - longer) / 2, right = (most + longer) / 2;
        steps_.assign(text.size, plus_one);
        size_t before = 0; // the distance of the pattern up to here from the text before `from`
        for (size_t at = 0, start = 0; at < pattern.size; at += Masks::positions) {
            const size_t length = std::min(Masks::positions, pattern.size - at);
            const size_t from = at > left ? at - left : 0;
            const size_t to = std::min(text.size, at + length + right);
            for (; start < from; ++start) before = moved(before, steps_[start]);
            masks_.set(pattern.data + at, length);
            piece_.start(length);
            for (size_t i = from; i < to; i += stretch)
                go<true>(text.data + i, std::min(stretch, to - i), steps_.data() + i);
            masks_.clear(pattern.data + at, length);
            before += length;
            if (at + length == pattern.size)
                for (; start < text.size; ++start) before = moved(before, steps_[start]);
        }
        return before;
    }

    // From one word of the text to the next, the distance changes by one or not at all.
    static constexpr uint8_t plus_one = 1, minus_one = 2;
    static size_t moved(size_t distance, uint8_t step) {
        return distance + (step & plus_one) - (step >> 1);
    }

    template <bool Carried> void go(const Word *text, size_t length, uint8_t *steps) {
        switch (piece_.blocks()) {
        case 1: go<Carried, 1>(text, length, steps); break;
        case 2: go<Carried, 2>(text, length, steps); break;
        case 3: go<Carried, 3>(text, length, steps); break;
        default: go<Carried, 4>(text, length, steps);
        }
        worked(2 * length * piece_.blocks());
    }

    // `steps` come from the piece above and go to the one below.
    template <bool Carried, size_t Blocks>
    void go(const Word *text, size_t length, uint8_t *steps) {
        uint64_t plus[Blocks], minus[Blocks];
        std::copy_n(piece_.plus, Blocks, plus);
        std::copy_n(piece_.minus, Blocks, minus);
        const size_t last = (piece_.length - 1) % 64;
        for (size_t i = 0; i < length; ++i) {
            const uint64_t *equal = masks_[text[i]];
            uint64_t up = Carried ? steps[i] & plus_one : 1, down = Carried ? steps[i] >> 1 : 0;
            for (size_t b = 0; b < Blocks; ++b) {
                const uint64_t pv = plus[b], mv = minus[b], xv = equal[b] | mv;
                const uint64_t eq = equal[b] | down;
                const uint64_t xh = (((eq & pv) + pv) ^ pv) | eq;
                const uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
                const uint64_t ph_next = (ph << 1) | up, mh_next = (mh << 1) | down;
                plus[b] = mh_next | ~(xv | ph_next);
                minus[b] = ph_next & xv;
                const size_t top = b + 1 < Blocks ? 63 : last;
                up = (ph >> top) & 1, down = (mh >> top) & 1;
            }
            if constexpr (Carried) steps[i] = static_cast<uint8_t>(up | down << 1);
        }
        std::copy_n(plus, Blocks, piece_.plus);
        std::copy_n(minus, Blocks, piece_.minus);
    }

    Masks masks_;
    Piece piece_;
    std::vector<uint8_t> steps_;
};

// The longest common subsequence of two texts: its length, or where it is (Hyyrö 2004).
//
// A column of the table of lengths is a row of bits, 0 where the length grows by one from one
// position of the pattern to the next.
class CommonSubsequence {
  public:
    size_t length(const Words &hypothesis, const Words &reference) {
        Span text(hypothesis), pattern(reference);
        const size_t same = trim(text, pattern);
        if (text.size < pattern.size) std::swap(text, pattern);
        if (pattern.size == 0) return same;
        if (pairs(text.size, pattern.size) > most_pairs)
            throw TooLong(hypothesis.size(), reference.size());
        masks_.reserve(text, pattern);
        Column column((pattern.size + 63) / 64, ~uint64_t{0});
        advance(text, pattern, column, text.size, nullptr);
        size_t found = same;
        for (uint64_t bits : column) found += bits_in(~bits); // those beyond the pattern stay 1
        return found;
    }

    // Calls visit(position) for the positions in the pattern of the one subsequence that is found
    // from the ends of both texts: where they have the same word it is taken; or else the text is
    // cut by a word where the pattern needs its own, and the pattern where it does not.
    template <class Visit> void each(Span text, Span pattern, Visit visit) {
        for (size_t same = common_suffix(text, pattern); same > 0; --same)
            visit(--pattern.size), --text.size;
        if (text.size == 0 || pattern.size == 0) return;
        masks_.reserve(text, pattern);
        const Column start((pattern.size + 63) / 64, ~uint64_t{0});
        trace(text, pattern, start.data(), visit);
    }

  private:
    using Column = std::vector<uint64_t>;

    // So many columns are kept at a time; those in between are computed again from the one before,
    // so that the way back through the table takes memory linear in the pattern. A small table is
    // kept as a whole.
    static constexpr size_t fan = 32, small = size_t{1} << 18;

    // Walks back from the last word of the text, and of the pattern, to the first of the text.
    // `start` is the column before the text. Gives back how much of the pattern is left.
    template <class Visit>
    size_t trace(Span text, Span pattern, const uint64_t *start, Visit &visit) {
        if (pattern.size == 0) return 0;
        const size_t blocks = (pattern.size + 63) / 64;
        const bool whole = text.size <= fan || blocks * text.size <= small;
        const size_t step = whole ? 1 : (text.size + fan - 1) / fan;
        Column column(start, start + blocks);
        Column kept(column);
        kept.resize(blocks * (text.size / step + 1));
        advance(text, pattern, column, step, kept.data() + blocks);
        if (whole) return walk(text, pattern, kept, blocks, visit);
        for (size_t part = (text.size + step - 1) / step; part-- > 0;) {
            Span piece = text;
            piece.remove_prefix(part * step);
            piece.size = std::min(piece.size, step);
            pattern.size = trace(piece, pattern, kept.data() + part * blocks, visit);
        }
        return pattern.size;
    }

    template <class Visit>
    static size_t walk(const Span &text, const Span &pattern, const Column &kept, size_t blocks,
                       Visit &visit) {
        size_t i = pattern.size;
        for (size_t j = text.size; i > 0 && j > 0;) {
            if (pattern[i - 1] == text[j - 1]) visit(--i), --j;
            else if ((kept[j * blocks + (i - 1) / 64] >> ((i - 1) % 64)) & 1) --i;
            else --j;
        }
        return i;
    }

    // Takes the column through the text; every `step`-th one goes to `kept`.
    void advance(const Span &text, const Span &pattern, Column &column, size_t step,
                 uint64_t *kept) {
        const size_t rows = 64 * column.size();
        carries_.assign(rows > Masks::positions ? text.size : 0, 0);
        for (size_t at = 0; at < rows; at += Masks::positions) {
            const size_t length = std::min(Masks::positions, pattern.size - at);
            masks_.set(pattern.data + at, length);
            for (size_t i = 0; i < text.size; i += stretch) {
                const Part part{i, std::min(text.size, i + stretch), step, column.size()};
                uint64_t *bits = column.data() + at / 64, *out = kept ? kept + at / 64 : nullptr;
                go(text, part, (length + 63) / 64, bits, out);
            }
            masks_.clear(pattern.data + at, length);
        }
    }

    struct Part {
        size_t from, to, step, blocks;
    };

    void go(const Span &text, const Part &part, size_t blocks, uint64_t *bits, uint64_t *kept) {
        switch (blocks) {
        case 1: go<1>(text, part, bits, kept); break;
        case 2: go<2>(text, part, bits, kept); break;
        case 3: go<3>(text, part, bits, kept); break;
        default: go<4>(text, part, bits, kept);
        }
        worked((part.to - part.from) * blocks);
    }

    template <size_t Blocks>
    void go(const Span &text, const Part &part, uint64_t *bits, uint64_t *kept) {
        uint64_t column[Blocks];
        std::copy_n(bits, Blocks, column);
        const bool carried = !carries_.empty();
        size_t left = part.step - part.from % part.step;
        for (size_t i = part.from; i < part.to; ++i) {
            const uint64_t *equal = masks_[text[i]];
            uint64_t carry = carried ? carries_[i] : 0;
            for (size_t b = 0; b < Blocks; ++b) {
                const uint64_t v = column[b], u = v & equal[b];
                const uint64_t partial = v + u, sum = partial + carry;
                carry = uint64_t{partial < v} | uint64_t{sum < partial};
                column[b] = sum | (v - u);
            }
            if (carried) carries_[i] = static_cast<uint8_t>(carry);
            if (--left == 0) {
                left = part.step;
                if (kept) std::copy_n(column, Blocks, kept + i / part.step * part.blocks);
            }
        }
        std::copy_n(column, Blocks, bits);
    }

    Masks masks_;
    std::vector<uint8_t> carries_;
};

} // namespace assay
