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

    // The words live in this tokenizer until the next call.
    const std::vector<TextView> &operator()(const StringView &line) {
        decode(line, text_);
        switch (scheme_) {
        case Scheme::none: split(text_, words_); break;
        case Scheme::v13a: v13a(); break;
        case Scheme::intl: international(); break;
        case Scheme::character: characters(); break;
        }
        return words_;
    }

  private:
    void v13a() {
        bool special = false;
        for (char32_t c : text_) special |= (c == U'\n') | (c == U'&') | (c == U'<');
        if (special) unescape();
        // The line is set between blanks, so a stop at its end is before something.
        cut([](char32_t c) { return western(c); }, true);
    }

    void international() {
        strip_right(text_);
        cut([this](char32_t c) { return classified(c); }, false);
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

    template <class KindOf> void cut(KindOf kind_of, bool padded) {
        words_.clear();
        const TextView text(text_);
        const size_t end = text.size();
        size_t start = 0;
        Kind before = Kind::space;
        bool set_apart = !padded; // by the second rule; at an unpadded start it has no first half
        Kind now = end > 0 ? kind_of(text[0]) : Kind::space;
        for (size_t at = 0; at < end; ++at) {
            const Kind after = at + 1 < end ? kind_of(text[at + 1]) : Kind::space;
            const bool last = !padded && at + 1 == end;
            bool alone = now == Kind::mark || (now == Kind::dash && before == Kind::number);
            if (now == Kind::stop) {
                set_apart = before != Kind::number && !set_apart;
                alone = set_apart || (after != Kind::number && !last);
            } else {
                set_apart = false;
            }
            if (alone || now == Kind::space) {
                if (at > start) words_.push_back(text.substr(start, at - start));
                if (alone) words_.push_back(text.substr(at, 1));
                start = at + 1;
            }
            before = now;
            now = after;
        }
        if (end > start) words_.push_back(text.substr(start));
    }

    void characters() {
        words_.clear();
        for (size_t at = 0; at < text_.size(); ++at)
            if (!is_space(text_[at])) words_.push_back(TextView(text_).substr(at, 1));
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
    std::vector<TextView> words_;
};

} // namespace assay
