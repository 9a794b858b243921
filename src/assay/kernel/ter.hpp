// Translation edit rate: sacreBLEU's port of Tercom, shift for shift.
#pragma once

#include <cmath>

#include "batch.hpp"
#include "bits.hpp"
#include "distance.hpp"
#include "intern.hpp"
#include "tokenize.hpp"

namespace assay {

// Edit distance within a beam around the diagonal, with the trace of operations.
class BeamDistance {
  public:
    enum Operation : uint8_t { keep, substitute, insert, remove, undefined };

    // The matrix of `text` against `pattern`; returns the distance.
    int fill(const Words &text, const Words &pattern) {
        shape(text.size(), pattern.size());
        costs_.resize(starts_.back());
        operations_.resize(starts_.back());
        for (size_t j = 0; j <= pattern.size(); ++j)
            costs_[j] = static_cast<int>(j), operations_[j] = insert;
        for (size_t i = 1; i <= text.size(); ++i) {
            const Row above = row(costs_.data(), i - 1);
            for (size_t j = from_[i]; j < to_[i]; ++j) {
                const size_t at = starts_[i] + j - from_[i];
                Operation operation = undefined;
                costs_[at] = cell(above, j > from_[i] ? costs_[at - 1] : infinite, j,
                                  text[i - 1], pattern, operation);
                operations_[at] = operation;
            }
            worked(4 * (to_[i] - from_[i]));
        }
        return costs_.back();
    }

    // The operations of the last `fill`, last first.
    template <class Visit> void trace(size_t text_size, size_t pattern_size, Visit visit) const {
        size_t i = text_size, j = pattern_size;
        while (i > 0 || j > 0) {
            const bool inside = j >= from_[i] && j < to_[i];
            auto operation = inside ? Operation(operations_[starts_[i] + j - from_[i]]) : undefined;
            // No path within the beam: cannot be, but must never read outside of it.
            if (operation == undefined) operation = j > 0 ? insert : remove;
            visit(operation);
            if (operation == keep || operation == substitute) --i, --j;
            else if (operation == insert) --j;
            else --i;
        }
    }

    // The distance of a text that differs from the filled one only in [low, high).
    int changed(const Words &text, const Words &pattern, size_t low, size_t high) {
        above_.assign(costs_.begin() + static_cast<long>(starts_[low]),
                      costs_.begin() + static_cast<long>(starts_[low + 1]));
        for (size_t i = low + 1; i <= text.size(); ++i) {
            const Row above{above_.data(), from_[i - 1], to_[i - 1]};
            current_.resize(to_[i] - from_[i]);
            Operation ignored = undefined;
            for (size_t j = from_[i]; j < to_[i]; ++j)
                current_[j - from_[i]] =
                    cell(above, j > from_[i] ? current_[j - from_[i] - 1] : infinite, j,
                         text[i - 1], pattern, ignored);
            above_.swap(current_);
            worked(4 * above_.size());
            // From here on both texts are the same: rows that differ by a constant stay so.
            int offset = 0;
            if (i >= high && parallel(i, offset)) return costs_.back() + offset;
        }
        return above_.back();
    }

  private:
    static constexpr int infinite = 1 << 29;
    static constexpr int beam = 25;
    struct Row {
        const int *costs;
        size_t from, to;
        int operator[](size_t j) const { return j >= from && j < to ? costs[j - from] : infinite; }
    };

    Row row(const int *costs, size_t i) const { return {costs + starts_[i], from_[i], to_[i]}; }

    // Tercom prefers keep or substitute, then deletion, then insertion.
    static int cell(const Row &above, int left, size_t j, Word word, const Words &pattern,
                    Operation &operation) {
        if (j == 0) {
            operation = remove;
            return above[0] + 1;
        }
        int best = infinite;
        const bool same = word == pattern[j - 1];
        if (above[j - 1] + !same < best)
            best = above[j - 1] + !same, operation = same ? keep : substitute;
        if (above[j] + 1 < best) best = above[j] + 1, operation = remove;
        if (left + 1 < best) best = left + 1, operation = insert;
        return best;
    }

    bool parallel(size_t i, int &offset) const {
        const Row base = row(costs_.data(), i);
        bool first = true;
        for (size_t at = 0; at < above_.size(); ++at) {
            const int mine = above_[at], theirs = base.costs[at];
            if (mine >= infinite && theirs >= infinite) continue;
            if (mine >= infinite || theirs >= infinite) return false;
            if (first) offset = mine - theirs, first = false;
            else if (mine - theirs != offset) return false;
        }
        return !first;
    }

    void shape(size_t text, size_t pattern) {
        const double ratio =
            text > 0 ? static_cast<double>(pattern) / static_cast<double>(text) : 1.0;
        // In some crazy sentences the lengths differ so much that rows would not overlap.
        const long width =
            beam < ratio / 2 ? static_cast<long>(std::ceil(ratio / 2 + beam)) : long{beam};
        from_.assign(1, 0);
        to_.assign(1, pattern + 1);
        starts_.assign({0, pattern + 1});
        for (size_t i = 1; i <= text; ++i) {
            const long diagonal = static_cast<long>(std::floor(static_cast<double>(i) * ratio));
            from_.push_back(static_cast<size_t>(std::max(0L, diagonal - width)));
            const size_t end = static_cast<size_t>(diagonal + width);
            to_.push_back(i == text ? pattern + 1 : std::min(pattern + 1, end));
            starts_.push_back(starts_.back() + to_.back() - from_.back());
        }
    }

    std::vector<int> costs_, above_, current_;
    std::vector<uint8_t> operations_;
    std::vector<size_t> from_, to_, starts_;
};

// Edits and shifts that turn one hypothesis into one reference.
class ShiftedEdits {
  public:
    size_t operator()(Words hypothesis, const Words &reference) {
        if (reference.empty()) return hypothesis.size();
        size_t shifts = 0, checked = 0;
        while (true) {
            const int before = align(hypothesis, reference);
            const Shift best = find(hypothesis, reference, before, checked);
            // A shift found when the candidates run out is not taken, as in sacreBLEU.
            if (checked >= most_candidates || best.gain <= 0)
                return shifts + static_cast<size_t>(before);
            move(hypothesis, best);
            hypothesis.swap(moved_);
            ++shifts;
        }
    }

  private:
    static constexpr size_t most_candidates = 1000, longest_shift = 10, farthest_shift = 50;
    static constexpr size_t certain = 23; // so few edits never leave the beam
    static constexpr size_t bit_blocks = 4;

    struct Shift {
        int gain = 0;
        size_t start = 0, length = 0, target = 0;
        bool beats(const Shift &other) const {
            if (gain != other.gain) return gain > other.gain;
            if (length != other.length) return length > other.length;
            if (start != other.start) return start < other.start;
            return target < other.target;
        }
    };

    // Fills the alignment of reference positions and the positions that are wrong so far.
    int align(const Words &hypothesis, const Words &reference) {
        const size_t n = hypothesis.size(), m = reference.size();
        const int distance = beam_.fill(hypothesis, reference);
        to_.assign(m, 0);
        wrong_reference_.assign(m + 1, 0);
        wrong_hypothesis_.assign(n + 1, 0);
        long i = static_cast<long>(n) - 1, j = static_cast<long>(m) - 1;
        beam_.trace(n, m, [&](BeamDistance::Operation operation) {
            const bool takes_text = operation != BeamDistance::insert;
            const bool takes_pattern = operation != BeamDistance::remove;
            const bool wrong = operation != BeamDistance::keep;
            if (takes_pattern) to_[j] = i, wrong_reference_[j + 1] = wrong, --j;
            if (takes_text) wrong_hypothesis_[i + 1] = wrong, --i;
        });
        for (size_t at = 0; at < m; ++at) wrong_reference_[at + 1] += wrong_reference_[at];
        for (size_t at = 0; at < n; ++at) wrong_hypothesis_[at + 1] += wrong_hypothesis_[at];
        bits_ready_ = false;
        return distance;
    }

    Shift find(const Words &hypothesis, const Words &reference, int before, size_t &checked) {
        Shift best;
        const size_t n = hypothesis.size(), m = reference.size();
        for (size_t start = 0; start < n; ++start) {
            const size_t first = start > farthest_shift ? start - farthest_shift : 0;
            const size_t last = std::min(m, start + farthest_shift + 1);
            worked(128);
            for (size_t at = first; at < last; ++at) {
                for (size_t length = 1; length <= longest_shift; ++length) {
                    const size_t h = start + length - 1, r = at + length - 1;
                    if (h >= n || r >= m || hypothesis[h] != reference[r]) break;
                    if (!worth_trying(start, at, length)) continue;
                    try_targets(hypothesis, reference, before, {0, start, length, 0}, at, best,
                                checked);
                    if (checked >= most_candidates) return best;
                }
            }
        }
        return best;
    }

    // Both sides must have an error there, and the words must not be shifted into themselves.
    bool worth_trying(size_t start, size_t at, size_t length) const {
        if (wrong_hypothesis_[start + length] == wrong_hypothesis_[start]) return false;
        if (wrong_reference_[at + length] == wrong_reference_[at]) return false;
        const long aligned = to_[at];
        return !(aligned >= static_cast<long>(start) && aligned < static_cast<long>(start + length));
    }

    void try_targets(const Words &hypothesis, const Words &reference, int before, Shift shift,
                     size_t at, Shift &best, size_t &checked) {
        long previous = -1;
        for (size_t offset = 0; offset <= shift.length; ++offset) {
            const size_t position = at + offset; // one more than the position aimed at
            if (position > reference.size()) break;
            const long target = position == 0 ? 0 : to_[position - 1] + 1;
            if (target == previous) continue;
            previous = target;
            shift.target = static_cast<size_t>(target);
            ++checked;
            shift.gain = gain(hypothesis, reference, before, shift, best);
            if (shift.gain > 0 && shift.beats(best)) best = shift;
        }
    }

    // By how much the shift lowers the distance; a value below the best may be too high.
    int gain(const Words &hypothesis, const Words &reference, int before, const Shift &shift,
             const Shift &best) {
        const size_t low = std::min(shift.start, shift.target);
        const size_t high = end_of(shift, hypothesis.size());
        if ((reference.size() + 63) / 64 <= bit_blocks) {
            const size_t exact = exact_distance(hypothesis, reference, shift, low, high);
            if (exact <= certain || reference.size() < 25) return before - static_cast<int>(exact);
            // The beam can only find more edits than there are.
            if (before - static_cast<int>(exact) < std::max(1, best.gain)) return 0;
        }
        move(hypothesis, shift);
        return before - beam_.changed(moved_, reference, low, high);
    }

    // The end of what the shift changes; it begins at the lesser of start and target.
    static size_t end_of(const Shift &shift, size_t size) {
        const size_t end = shift.start + shift.length;
        if (shift.target < shift.start) return end;
        if (shift.target > end) return shift.target;
        return std::min(size, shift.length + shift.target);
    }

    // Puts the shifted words into moved_.
    void move(const Words &words, const Shift &shift) {
        const size_t high = end_of(shift, words.size());
        moved_.resize(words.size());
        for (size_t i = 0; i < words.size(); ++i) moved_[i] = words[origin(shift, i, high)];
    }

    // Without the beam, by bits: the unchanged start is stored, the unchanged end often is.
    size_t exact_distance(const Words &hypothesis, const Words &reference, const Shift &shift,
                          size_t low, size_t high) {
        const size_t n = hypothesis.size(), m = reference.size();
        if (!bits_ready_) store_columns(hypothesis, reference);
        worked(4 * (n - low));
        Column &column = scratch_;
        column = columns_[low];
        for (size_t i = low; i < n; ++i) {
            if (i >= high && column.plus == columns_[i].plus && column.minus == columns_[i].minus)
                return columns_[n].last + column.last - columns_[i].last;
            column.step(positions_.at(origin(shift, i, high)), m);
        }
        return column.last;
    }

    // Which word of the unshifted hypothesis stands at position i of the shifted one.
    static size_t origin(const Shift &shift, size_t i, size_t high) {
        const auto [gain, start, length, target] = shift;
        const size_t low = std::min(start, target);
        if (i < low || i >= high) return i;
        if (target < start) return i < target + length ? i - target + start : i - length;
        const size_t rest = high - start - length; // words that move forward
        return i < start + rest ? i + length : i - rest;
    }

    void store_columns(const Words &hypothesis, const Words &reference) {
        positions_.build(reference, hypothesis);
        const size_t n = hypothesis.size(), m = reference.size();
        if (columns_.size() <= n) columns_.resize(n + 1);
        columns_[0].start(m, positions_.blocks());
        for (size_t i = 0; i < n; ++i) {
            columns_[i + 1] = columns_[i];
            columns_[i + 1].step(positions_.at(i), m);
        }
        bits_ready_ = true;
    }

    BeamDistance beam_;
    Positions positions_;
    std::vector<Column> columns_;
    Column scratch_;
    bool bits_ready_ = false;
    Words moved_;
    std::vector<long> to_;
    std::vector<uint32_t> wrong_reference_, wrong_hypothesis_;
};

// The words of a line as numbers: for a tokenizer, in order of arrival.
class WordUnits {
  public:
    WordUnits(Scheme scheme, std::string_view classes) : tokenize_(scheme, classes) {}

    void clear() { vocabulary_.clear(); }

    void read(const StringView &line, Words &out) {
        out.clear();
        tokenize_.each(line, [&](TextView word) { out.push_back(vocabulary_.intern(word)); });
        worked(8 * line.length);
    }

  private:
    Tokenizer tokenize_;
    Vocabulary vocabulary_;
};

// The characters of a line: code points are numbers.
class CharacterUnits {
  public:
    explicit CharacterUnits(bool whitespace) : whitespace_(whitespace) {}

    void clear() {}

    void read(const StringView &line, Words &out) const {
        if (whitespace_) decode(line, out);
        else decode_without_spaces(line, out);
        worked(line.length);
    }

  private:
    bool whitespace_;
};

// Rows of 2: edits to the nearest reference, mean reference length.
template <class Reader, class Distance> class EditRows {
  public:
    EditRows(const Batch &batch, const Reader &reader, double *rows)
        : batch_(batch), reader_(reader), rows_(rows) {}

    void operator()(size_t job) {
        const Group group = batch_.group(job);
        batch_.prefetch_group(job + 1);
        reader_.clear();
        references_.resize(std::max(references_.size(), group.references.size()));
        size_t length = 0;
        for (size_t at = 0; at < group.references.size(); ++at) {
            reader_.read(group.references[at], references_[at]);
            length += references_[at].size();
        }
        batch_.each_member(group, [&](uint32_t member) {
            reader_.read(batch_.hypothesis(member), hypothesis_);
            rows_[2 * member] = static_cast<double>(nearest(group.references.size(), member));
            rows_[2 * member + 1] =
                static_cast<double>(length) / static_cast<double>(group.references.size());
        });
    }

  private:
    size_t nearest(size_t references, uint32_t member) {
        size_t best = SIZE_MAX;
        try {
            for (size_t at = 0; at < references; ++at)
                best = std::min(best, distance_(hypothesis_, references_[at]));
        } catch (TooLong &error) {
            error.segment = member;
            throw;
        }
        return best;
    }

    const Batch &batch_;
    Reader reader_;
    double *rows_;
    std::vector<Words> references_;
    Words hypothesis_;
    Distance distance_;
};

} // namespace assay
