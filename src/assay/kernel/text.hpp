// Text as code points: views of Python strings, white space, runs inside a buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using Text = std::u32string;
using TextView = std::u32string_view;

// A Python string's own memory: 1, 2 or 4 bytes per code point. The string outlives the view.
struct StringView {
    const void *data = nullptr;
    size_t length = 0;
    int kind = 1;
};

// Starts to load memory that is needed soon: strings lie scattered, and waiting for them costs more
// than reading them.
inline void prefetch(const void *memory) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

inline void prefetch(const StringView &view) {
    const char *data = static_cast<const char *>(view.data);
    for (size_t at = 0; at < 4; ++at) prefetch(data + 64 * at);
}

template <class T> inline void prefetch(const std::vector<T> &values) {
    const char *data = reinterpret_cast<const char *>(values.data());
    const size_t size = std::min(values.size() * sizeof(T), size_t{1} << 14);
    for (size_t at = 0; at < size; at += 64) prefetch(data + at);
}

template <class Unit, class Out> inline void widen(const StringView &view, Out &out) {
    const Unit *units = static_cast<const Unit *>(view.data);
    out.resize(view.length);
    std::copy(units, units + view.length, out.begin());
}

// Valid UTF-8 of `view.length` code points.
template <class Out> inline void from_utf8(const StringView &view, Out &out) {
    const uint8_t *at = static_cast<const uint8_t *>(view.data);
    out.resize(view.length);
    for (auto &c : out) {
        const uint8_t first = *at++;
        const int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        char32_t whole = more ? first & (0x3f >> more) : first;
        for (int i = 0; i < more; ++i) whole = whole << 6 | (*at++ & 0x3f);
        c = whole;
    }
}

// `out` is a Text, or a vector of whole numbers.
template <class Out> inline void decode(const StringView &view, Out &out) {
    switch (view.kind) {
    case 0: return from_utf8(view, out);
    case 1: return widen<uint8_t>(view, out);
    case 2: return widen<uint16_t>(view, out);
    default: return widen<uint32_t>(view, out);
    }
}

// The characters at which Python's str.split() splits.
inline bool is_space(char32_t c) {
    if (c < 0x40) return (0x1f0003e00ULL >> c) & 1; // blank, \t\n\v\f\r, 0x1c to 0x1f
    if (c < 0x80) return false;
    if (c == 0x85 || c == 0xa0 || c == 0x1680) return true;
    if (c < 0x2000 || c > 0x3000) return false;
    return c <= 0x200a || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

inline void strip_right(Text &text) {
    while (!text.empty() && is_space(text.back())) text.pop_back();
}

// Calls visit(word) for the runs between white space, as str.split() gives them.
template <class Visit> inline void split(TextView text, Visit visit) {
    const size_t end = text.size();
    for (size_t at = 0; at < end;) {
        while (at < end && is_space(text[at])) ++at;
        const size_t start = at;
        while (at < end && !is_space(text[at])) ++at;
        if (at > start) visit(TextView(text.data() + start, at - start));
    }
}

template <class Out> inline void remove_spaces(Out &text) {
    size_t kept = 0;
    for (const auto c : text) {
        text[kept] = c;
        kept += !is_space(c);
    }
    text.resize(kept);
}

// The text without white space. Most lines are bytes, for which a table tells at once.
template <class Out> inline void decode_without_spaces(const StringView &view, Out &out) {
    static const std::array<bool, 256> stays = [] {
        std::array<bool, 256> table{};
        for (size_t c = 0; c < table.size(); ++c) table[c] = !is_space(static_cast<char32_t>(c));
        return table;
    }();
    if (view.kind != 1) {
        decode(view, out);
        return remove_spaces(out);
    }
    const uint8_t *bytes = static_cast<const uint8_t *>(view.data);
    out.resize(view.length);
    size_t kept = 0;
    for (size_t at = 0; at < view.length; ++at) {
        out[kept] = bytes[at];
        kept += stays[bytes[at]];
    }
    out.resize(kept);
}

} // namespace assay
