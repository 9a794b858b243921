// What stands out in lines: empty ones, those that were not put together after tokenizing, and
// those that have the words of their source.
#pragma once

#include "batch.hpp"
#include "intern.hpp"

namespace assay {

struct LineCounts {
    size_t empty = 0, tokenized = 0;
};

class LineCounter {
  public:
    void add(const StringView &line) {
        switch (line.kind) {
        case 1: return look(static_cast<const uint8_t *>(line.data), line.length);
        case 2: return look(static_cast<const uint16_t *>(line.data), line.length);
        default: decode(line, text_); return look(text_.data(), text_.size());
        }
    }

    LineCounts counts;

  private:
    template <class Unit> void look(const Unit *text, size_t length) {
        size_t at = 0;
        while (at < length && is_space(text[at])) ++at;
        counts.empty += at == length;
        counts.tokenized += length >= 2 && text[length - 1] == '.' && text[length - 2] == ' ';
    }

    Text text_;
};

// How many distinct words of a line its source has, and all sources together.
struct Overlap {
    int64_t words = 0, in_source = 0, in_sources = 0;
};

// Words by a table with a byte per code point: 1 for a letter, 2 for a letter that is a word of its
// own. Lines are lowercase already. Of a line with a character beyond the table nothing is said:
// its counts are below 0.
class Overlaps {
  public:
    explicit Overlaps(std::string_view table) : table_(table) {}

    void add_source(const StringView &line) {
        if (beyond(line)) sources_beyond_ = true;
        std::vector<uint32_t> ids;
        each_word(line, [&](TextView word) { ids.push_back(all_.intern(word)); });
        std::sort(ids.begin(), ids.end());
        sources_.push_back(std::move(ids));
    }

    Overlap with(size_t source, const StringView &line) {
        if (sources_beyond_ || beyond(line)) return {-1, -1, -1};
        Overlap found;
        own_.clear();
        const std::vector<uint32_t> &there = sources_.at(source);
        each_word(line, [&](TextView word) {
            const size_t before = own_.size();
            if (own_.intern(word) < before) return;
            ++found.words;
            const uint32_t id = all_.find(word);
            if (id == Vocabulary::unknown) return;
            ++found.in_sources;
            found.in_source += std::binary_search(there.begin(), there.end(), id);
        });
        return found;
    }

  private:
    bool beyond(const StringView &line) {
        decode(line, text_);
        char32_t largest = 0;
        for (char32_t c : text_) largest = std::max(largest, c);
        return largest >= table_.size();
    }

    template <class Visit> void each_word(const StringView &line, Visit visit) {
        decode(line, text_);
        const char32_t *text = text_.data();
        const size_t end = text_.size();
        for (size_t at = 0; at < end;) {
            const size_t start = at;
            while (at < end && kind(text[at]) == 1) ++at;
            if (at > start) visit(TextView(text + start, at - start));
            if (at < end && kind(text[at]) == 2) visit(TextView(text + at, 1));
            if (at < end) at += kind(text[at]) != 1;
        }
    }

    char kind(char32_t c) const { return c < table_.size() ? table_[c] : 0; }

    std::string_view table_;
    bool sources_beyond_ = false;
    Vocabulary all_, own_;
    std::vector<std::vector<uint32_t>> sources_;
    Text text_;
};

} // namespace assay
