// What stands out in lines: empty ones, and those that were not put together after tokenizing.
#pragma once

#include "batch.hpp"

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

} // namespace assay
