// Words of 13a and of plain white space as bytes: the same words as Tokenizer's, several times as
// fast. A line becomes UTF-8 with blanks for all white space that is not ASCII, which changes no
// word; all that decides where to cut is ASCII then.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#ifdef _MSC_VER
#include <intrin.h>
#endif

#include "intern.hpp"
#include "tokenize.hpp"

namespace assay {

inline unsigned lowest_bit(uint64_t bits) {
#ifdef _MSC_VER
    unsigned long at;
    _BitScanForward64(&at, bits);
    return at;
#else
    return static_cast<unsigned>(__builtin_ctzll(bits));
#endif
}

inline bool little_endian() {
    const uint16_t probe = 1;
    unsigned char first;
    std::memcpy(&first, &probe, 1);
    return first == 1;
}

// A word inside a line, of which at least 8 bytes from its start on can be read.
struct ByteWord {
    const unsigned char *data;
    size_t size;
};

// Cuts lines into words. What they are found in lives until the next call.
class ByteTokenizer {
  public:
    ByteTokenizer(Scheme scheme, std::string_view) : western_(scheme == Scheme::v13a) {}

    static bool knows(Scheme scheme) { return scheme == Scheme::v13a || scheme == Scheme::none; }

    template <class Visit> void each(const StringView &line, Visit visit) {
        read(line);
        if (western_) {
            if (has_escapes(text_.data(), size_)) unescape();
            cut<true>(visit);
        } else {
            cut<false>(visit);
        }
    }

  private:
    static constexpr size_t step = 64; // so many bytes are looked at together

    void read(const StringView &line) {
        size_ = 0;
        if (line.kind == 1) {
            room(line.length);
            if (line.length) std::memcpy(text_.data(), line.data, line.length);
            size_ = line.length;
            if (is_ascii(text_.data(), size_)) return;
        }
        room(4 * line.length);
        decode(line, wide_);
        unsigned char *to = text_.data();
        for (char32_t c : wide_) {
            if (c < 0x80) *to++ = static_cast<unsigned char>(c);
            else if (is_space(c)) *to++ = ' ';
            else to = encoded(c, to);
        }
        size_ = static_cast<size_t>(to - text_.data());
    }

    // UTF-8, also of halves of surrogate pairs: different texts stay different.
    static unsigned char *encoded(char32_t c, unsigned char *to) {
        const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        *to++ = static_cast<unsigned char>((0xf00 >> (more + 1)) | (c >> 6 * more));
        for (int left = more; left-- > 0;)
            *to++ = static_cast<unsigned char>(0x80 | ((c >> 6 * left) & 0x3f));
        return to;
    }

    void room(size_t size) {
        if (text_.size() < size + 2 * step) {
            text_.resize(2 * size + 2 * step);
            marks_.resize(text_.size());
        }
    }

    // The loops below touch nothing but their arguments, so that compilers take many bytes at once.
    static bool is_ascii(const unsigned char *text, size_t size) {
        unsigned char any = 0;
        for (size_t at = 0; at < size; ++at) any |= text[at];
        return any < 0x80;
    }

    // Whether there is a line break, & or <.
    static bool has_escapes(const unsigned char *text, size_t size) {
        unsigned char least = 1;
        for (size_t at = 0; at < size; ++at) {
            const unsigned char c = text[at];
            const unsigned char a = c ^ '\n', b = c ^ '&', d = c ^ '<';
            const unsigned char ab = a < b ? a : b, abd = ab < d ? ab : d;
            least = least < abd ? least : abd;
        }
        return least == 0;
    }

    template <bool Western>
    static void mark_edges(const unsigned char *__restrict text, unsigned char *__restrict marks,
                           size_t size) {
        for (size_t at = 0; at < size; ++at) marks[at] = edge<Western>(text[at]);
    }

    // As in Tokenizer.
    void unescape() {
        static constexpr std::pair<const char *, const char *> rules[] = {
            {"<skipped>", ""}, {"-\n", ""}, {"&quot;", "\""},
            {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"}};
        while (size_ > 0 && is_space(text_[size_ - 1])) --size_;
        spare_.assign(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(size_));
        for (const auto &[from, to] : rules) {
            const size_t width = std::strlen(from), put = std::strlen(to);
            size_t at = spare_.find(from);
            if (at == std::string::npos) continue;
            changed_.clear();
            size_t done = 0;
            for (; at != std::string::npos; at = spare_.find(from, done)) {
                changed_.append(spare_, done, at - done).append(to, put);
                done = at + width;
            }
            changed_.append(spare_, done, std::string::npos);
            spare_.swap(changed_);
        }
        size_ = spare_.size();
        std::copy(spare_.begin(), spare_.end(), text_.begin());
    }

    static bool between(unsigned char c, int low, int high) {
        return static_cast<unsigned char>(c - low) <= static_cast<unsigned char>(high - low);
    }

    // Whether a word could end here: 1 for white space, for 13a also for punctuation.
    template <bool Western> static unsigned char edge(unsigned char c) {
        if (!Western) return between(c, 0x09, 0x0d) | between(c, 0x1c, 0x20);
        return between(c, 0x09, 0x0d) | (between(c, 0x1c, 0x2f) & (c != '\'')) |
               between(c, 0x3a, 0x40) | between(c, 0x5b, 0x60) | between(c, 0x7b, 0x7e);
    }

    // Where words could end among 64 bytes, one bit each.
    static uint64_t edges(const unsigned char *marks) {
        uint64_t bits = 0;
        for (size_t at = 0; at < step; at += 8) {
            uint64_t eight;
            std::memcpy(&eight, marks + at, 8);
            bits |= gathered(eight) << at;
        }
        return bits;
    }

    // The lowest bits of 8 bytes, the first byte's in the lowest place.
    static uint64_t gathered(uint64_t eight) {
        if (!little_endian()) return (eight * 0x8040201008040201ULL) >> 56;
        return (eight * 0x0102040810204080ULL) >> 56;
    }

    template <bool Western, class Visit> void cut(Visit visit) {
        std::memset(text_.data() + size_, 0, step);
        const size_t end = (size_ + step - 1) / step * step;
        mark_edges<Western>(text_.data(), marks_.data(), end);
        const unsigned char *text = text_.data(), *marks = marks_.data();
        size_t start = 0, last_apart = end; // the last stop that the second rule set apart
        for (size_t from = 0; from < end; from += step) {
            for (uint64_t bits = edges(marks + from); bits; bits &= bits - 1) {
                const size_t at = from + lowest_bit(bits);
                bool alone = false;
                if (Western && !blank(text[at])) {
                    alone = stands_alone(at, last_apart);
                    if (!alone) continue;
                }
                if (at > start) visit(ByteWord{text + start, at - start});
                if (alone) visit(ByteWord{text + at, 1});
                start = at + 1;
            }
        }
        if (size_ > start) visit(ByteWord{text + start, size_ - start});
    }

    static bool blank(unsigned char c) { return c <= ' '; }
    static bool digit(unsigned char c) { return c >= '0' && c <= '9'; }

    // The rules of Tokenizer::cut for a padded line.
    bool stands_alone(size_t at, size_t &last_apart) const {
        const unsigned char c = text_[at];
        const bool after_number = at > 0 && digit(text_[at - 1]);
        if (c == '-') return after_number;
        if (c != '.' && c != ',') return true;
        const bool apart = !after_number && !(at > 0 && last_apart == at - 1);
        if (apart) last_apart = at;
        return apart || !digit(at + 1 < size_ ? text_[at + 1] : ' ');
    }

    bool western_;
    size_t size_ = 0;
    std::vector<unsigned char> text_, marks_;
    Text wide_;
    std::string spare_, changed_;
};

// Numbers distinct words 0, 1, 2 ... in order of arrival. Owns what it keeps.
class ByteVocabulary {
  public:
    static constexpr uint32_t unknown = UINT32_MAX;

    void clear() {
        std::fill(slots_.begin(), slots_.end(), unknown);
        words_.clear();
        tails_.clear();
    }

    void load() const {
        prefetch(slots_);
        prefetch(words_);
        prefetch(tails_);
    }

    uint32_t find(ByteWord word) const {
        if (slots_.empty()) return unknown;
        const uint64_t head = head_of(word);
        return slots_[locate(word, head, hash_of(word, head))];
    }

    uint32_t intern(ByteWord word) {
        if (2 * (words_.size() + 1) > slots_.size()) grow();
        const uint64_t head = head_of(word), hash = hash_of(word, head);
        uint32_t &slot = slots_[locate(word, head, hash)];
        if (slot == unknown) {
            if (tails_.size() + word.size > UINT32_MAX) throw std::length_error("too long a line");
            slot = static_cast<uint32_t>(words_.size());
            words_.push_back({head, hash, static_cast<uint32_t>(tails_.size()),
                              static_cast<uint32_t>(word.size)});
            if (word.size > 8)
                tails_.insert(tails_.end(), word.data + 8, word.data + word.size);
        }
        return slot;
    }

  private:
    // Words of up to 8 bytes are all in `head`; of longer ones the rest is in `tails_`.
    struct Known {
        uint64_t head, hash;
        uint32_t tail, size;
    };

    static uint64_t eight_at(const unsigned char *data) {
        uint64_t eight;
        std::memcpy(&eight, data, sizeof eight);
        return eight;
    }

    // The first 8 bytes; those of shorter words in the lowest bits, where they mix best.
    static uint64_t head_of(ByteWord word) {
        if (word.size >= 8) return eight_at(word.data);
        const unsigned spare = static_cast<unsigned>(8 * (8 - word.size));
        const uint64_t eight = eight_at(word.data);
        return little_endian() ? eight & (UINT64_MAX >> spare) : eight >> spare;
    }

    static uint64_t hash_of(ByteWord word, uint64_t head) {
        constexpr uint64_t prime = 0x9e3779b97f4a7c15ULL;
        uint64_t hash = (head + word.size) * prime;
        if (word.size > 8) {
            for (size_t at = 8; at + 8 < word.size; at += 8)
                hash = ((hash ^ (hash >> 32)) + eight_at(word.data + at)) * prime;
            hash = ((hash ^ (hash >> 32)) + eight_at(word.data + word.size - 8)) * prime;
        }
        return hash;
    }

    size_t locate(ByteWord word, uint64_t head, uint64_t hash) const {
        const size_t mask = slots_.size() - 1;
        size_t at = static_cast<size_t>(hash >> shift_);
        while (slots_[at] != unknown && !same(words_[slots_[at]], word, head)) at = (at + 1) & mask;
        return at;
    }

    bool same(const Known &known, ByteWord word, uint64_t head) const {
        if (known.head != head || known.size != word.size) return false;
        return word.size <= 8 ||
               std::memcmp(tails_.data() + known.tail, word.data + 8, word.size - 8) == 0;
    }

    void grow() {
        slots_.assign(std::max<size_t>(64, 2 * slots_.size()), unknown);
        const size_t mask = slots_.size() - 1;
        for (shift_ = 64; (size_t{1} << (64 - shift_)) < slots_.size();) --shift_;
        for (uint32_t id = 0; id < words_.size(); ++id) {
            size_t at = static_cast<size_t>(words_[id].hash >> shift_);
            while (slots_[at] != unknown) at = (at + 1) & mask;
            slots_[at] = id;
        }
    }

    std::vector<uint32_t> slots_;
    std::vector<Known> words_;
    std::vector<unsigned char> tails_;
    int shift_ = 64;
};

} // namespace assay
