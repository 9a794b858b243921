// Tokenizers that equal sacreBLEU's token for token: 13a, intl, char, none.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>

#include "text.hpp"

namespace assay {

enum class Scheme { none, v13a, intl, character };

inline Scheme scheme_named(std::string_view name) {
    if (name == "none") return Scheme::none;
    if (name == "13a") return Scheme::v13a;
    if (name == "intl") return Scheme::intl;
    if (name == "char") return Scheme::character;
    throw std::invalid_argument("no native tokenizer of this name");
}

// What a character is to a tokenizer. A `stop` stands alone unless it is between numbers.
enum class Kind : uint8_t { letter, number, space, mark, stop, dash };

// Splits lines into words. Keeps its buffers, so that a thread allocates next to nothing.
//
// sacreBLEU rewrites the line with one regular expression after the other, all of which only put
// blanks around characters. What they come to is decided here for each character in one pass:
//   s/(mark)/ \1 /g           a mark always stands alone
//   s/([^number])(stop)/\1 \2 /g   a stop does so after anything but a number or a stop that
//                             was itself set apart by this rule (matches do not overlap)
//   s/(stop)([^number])/ \1 \2/g   or before anything but a number
//   s/(number)(-)/\1 \2 /g    a dash after a number does so, too (13a only)
class Tokenizer {
  public:
    // `classes` has a byte per code point for intl: 1 punctuation, 2 number, 4 symbol.
    Tokenizer(Scheme scheme, std::string_view classes) : scheme_(scheme), classes_(classes) {}

    // Calls visit(word) for each word of the line; words live until the next call.
    template <class Visit> void each(const StringView &line, Visit visit) {
        decode(line, text_);
        switch (scheme_) {
        case Scheme::none: return split(text_, visit);
        case Scheme::character: return characters(visit);
        case Scheme::v13a:
            if (has_escapes()) unescape();
            // The line is set between blanks, so a stop at its end is before something.
            return cut([](char32_t c) { return western(c); }, true, visit);
        case Scheme::intl:
            strip_right(text_);
            return cut([this](char32_t c) { return classified(c); }, false, visit);
        }
    }

  private:
    bool has_escapes() const {
        uint32_t found = 0;
        for (char32_t c : text_)
            found |= uint32_t{c == U'\n'} | uint32_t{c == U'&'} | uint32_t{c == U'<'};
        return found != 0;
    }

    void unescape() {
        strip_right(text_);
        replace_all(U"<skipped>", U"");
        replace_all(U"-\n", U"");
        replace_all(U"&quot;", U"\"");
        replace_all(U"&amp;", U"&");
        replace_all(U"&lt;", U"<");
        replace_all(U"&gt;", U">");
    }

    template <class KindOf, class Visit> void cut(KindOf kind_of, bool padded, Visit visit) const {
        const char32_t *text = text_.data();
        const size_t end = text_.size();
        size_t start = 0;
        Kind before = Kind::space;
        bool set_apart = !padded; // by the second rule; at an unpadded start it has no first half
        for (size_t at = 0; at < end; ++at) {
            const Kind now = kind_of(text[at]);
            bool alone = now == Kind::mark || (now == Kind::dash && before == Kind::number);
            if (now == Kind::stop) {
                const bool last = at + 1 == end;
                const Kind after = last ? Kind::space : kind_of(text[at + 1]);
                set_apart = before != Kind::number && !set_apart;
                alone = set_apart || (after != Kind::number && (padded || !last));
            } else {
                set_apart = false;
            }
            before = now;
            if (now == Kind::letter || !(alone || now == Kind::space)) continue;
            if (at > start) visit(TextView(text + start, at - start));
            if (alone) visit(TextView(text + at, 1));
            start = at + 1;
        }
        if (end > start) visit(TextView(text + start, end - start));
    }

    template <class Visit> void characters(Visit visit) const {
        for (const char32_t &c : text_)
            if (!is_space(c)) visit(TextView(&c, 1));
    }

    static Kind western(char32_t c) {
        static const std::array<Kind, 128> table = [] {
            std::array<Kind, 128> kinds{};
            for (char32_t a = 0; a < 128; ++a) {
                const bool mark = (a >= 0x21 && a <= 0x26) || (a >= 0x28 && a <= 0x2b) ||
                                  a == 0x2f || (a >= 0x3a && a <= 0x40) ||
                                  (a >= 0x5b && a <= 0x60) || (a >= 0x7b && a <= 0x7e);
                kinds[a] = is_space(a)                    ? Kind::space
                           : a >= U'0' && a <= U'9'       ? Kind::number
                           : a == U'.' || a == U','       ? Kind::stop
                           : a == U'-'                    ? Kind::dash
                           : mark                         ? Kind::mark
                                                          : Kind::letter;
            }
            return kinds;
        }();
        if (c < 128) return table[c];
        return is_space(c) ? Kind::space : Kind::letter;
    }

    Kind classified(char32_t c) const {
        if (is_space(c)) return Kind::space;
        switch (c < classes_.size() ? classes_[c] : 0) {
        case 1: return Kind::stop;
        case 2: return Kind::number;
        case 4: return Kind::mark;
        default: return Kind::letter;
        }
    }

    void replace_all(TextView from, TextView to) {
        size_t at = text_.find(from);
        if (at == Text::npos) return;
        spare_.clear();
        size_t done = 0;
        for (; at != Text::npos; at = text_.find(from, done)) {
            spare_.append(text_, done, at - done).append(to);
            done = at + from.size();
        }
        spare_.append(text_, done, Text::npos);
        text_.swap(spare_);
    }

    Scheme scheme_;
    std::string_view classes_;
    Text text_, spare_;
};

} // namespace assay
