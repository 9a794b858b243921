// A list of segments as the kernel sees it: strings in place, grouped by shared references.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "intern.hpp"

namespace assay {

namespace nb = nanobind;

// Views of Python strings. The stable ABI does not show a string's own memory, so there they are
// views of copies, which live as long as this object.
class Strings {
  public:
    StringView view(PyObject *object) {
        if (!PyUnicode_Check(object)) throw nb::type_error("segments hold strings");
#ifdef Py_LIMITED_API
        const Py_ssize_t length = PyUnicode_GetLength(object);
        if (length < 0) throw nb::python_error();
        Py_ssize_t bytes = 0;
        if (const char *utf8 = PyUnicode_AsUTF8AndSize(object, &bytes))
            return {utf8, static_cast<size_t>(length), bytes == length ? 1 : 0};
        PyErr_Clear(); // half of a surrogate pair, which UTF-8 does not have
        Py_UCS4 *copy = room(static_cast<size_t>(length));
        if (length && !PyUnicode_AsUCS4(object, copy, length, 0)) throw nb::python_error();
        return {copy, static_cast<size_t>(length), 4};
#else
#if PY_VERSION_HEX < 0x030C0000
        if (PyUnicode_READY(object) != 0) throw nb::python_error();
#endif
        return {PyUnicode_DATA(object), static_cast<size_t>(PyUnicode_GET_LENGTH(object)),
                static_cast<int>(PyUnicode_KIND(object))};
#endif
    }

#ifdef Py_LIMITED_API
  private:
    Py_UCS4 *room(size_t length) {
        if (length > left_) {
            left_ = std::max(length, size_t{1} << 16);
            blocks_.emplace_back(new Py_UCS4[left_]);
            next_ = blocks_.back().get();
        }
        Py_UCS4 *place = next_;
        next_ += length;
        left_ -= length;
        return place;
    }

    std::vector<std::unique_ptr<Py_UCS4[]>> blocks_;
    Py_UCS4 *next_ = nullptr;
    size_t left_ = 0;
#endif
};

// Some lines side by side.
struct Lines {
    const StringView *first;
    size_t count;

    size_t size() const { return count; }
    const StringView *begin() const { return first; }
    const StringView *end() const { return first + count; }
    const StringView &operator[](size_t at) const { return first[at]; }
};

// The numbers of some hypotheses: those of a list, or every `step`-th one.
struct Members {
    const uint32_t *listed;
    size_t first, step, count;

    size_t size() const { return count; }
    uint32_t operator[](size_t at) const {
        return listed ? listed[at] : static_cast<uint32_t>(first + at * step);
    }
};

// All hypotheses that are compared with the same references.
struct Group {
    Lines references;
    Members members;
};

// Built with the GIL; read without it. `owner` keeps every string alive.
//
// Segments are tuples (hypothesis, references, ...), or an object whose attribute `columns` is
// (lines of each system, references of each segment, index): the segments of one system after the
// other, without a tuple for each.
class Batch {
  public:
    explicit Batch(nb::handle segments) {
        if (!PyList_Check(segments.ptr()) && !PyTuple_Check(segments.ptr()) &&
            nb::hasattr(segments, "columns"))
            read_columns(tuple_of(segments.attr("columns")));
        else
            read_segments(segments);
    }

    size_t size() const { return hypotheses_.size(); }
    const StringView &hypothesis(size_t at) const { return hypotheses_[at]; }

    size_t group_count() const { return group_count_; }

    // The references are none where they were not read.
    Group group(size_t at) const {
        Group out{{nullptr, 0}, {nullptr, at, group_count_, systems_}};
        if (!reference_starts_.empty())
            out.references = {&references_[reference_starts_[at]],
                              reference_starts_[at + 1] - reference_starts_[at]};
        if (!member_starts_.empty())
            out.members = {&members_[member_starts_[at]], 0, 0,
                           member_starts_[at + 1] - member_starts_[at]};
        return out;
    }

    // Where they came in columns; with the GIL. Others are there from the start.
    void read_references() {
        if (!reference_starts_.empty()) return;
        references_.reserve(group_count_);
        reference_starts_.reserve(group_count_ + 1);
        for (size_t at = 0; at < group_count_; ++at) {
            add_references(PyTuple_GetItem(reference_tuples_.ptr(), static_cast<Py_ssize_t>(at)));
            worked_with_gil(at);
        }
        reference_starts_.push_back(references_.size());
    }

    // Starts to load the strings of a group that is worked off soon.
    void prefetch_group(size_t at) const {
        if (at >= group_count_) return;
        const Group soon = group(at);
        for (const StringView &reference : soon.references) prefetch(reference);
        if (soon.members.size()) prefetch(hypotheses_[soon.members[0]]);
    }

    // Calls visit(member) for the hypotheses of a group.
    template <class Visit> void each_member(const Group &group, Visit visit) const {
        constexpr size_t ahead = 3;
        const size_t size = group.members.size();
        for (size_t at = 0; at < size; ++at) {
            if (at + ahead < size) prefetch(hypotheses_[group.members[at + ahead]]);
            visit(group.members[at]);
            worked(16 * hypotheses_[group.members[at]].length);
        }
    }

    // What was prepared of the references before, where they came in columns.
    nb::handle index() const { return index_; }

    // The tuple of all references, where they came in columns.
    nb::handle references() const { return reference_tuples_; }

  private:
    static nb::object tuple_of(nb::handle sequence) {
        nb::object tuple = nb::steal<nb::object>(PySequence_Tuple(sequence.ptr()));
        if (!tuple.is_valid()) throw nb::python_error();
        return tuple;
    }

    static void check_size(size_t size) {
        if (size >= UINT32_MAX) throw std::length_error("too many segments for one call");
    }

    void read_segments(nb::handle segments) {
        owner_ = tuple_of(segments);
        const auto size = static_cast<size_t>(PyTuple_Size(owner_.ptr()));
        check_size(size);
        hypotheses_.reserve(size);
        std::vector<uint32_t> groups;
        groups.reserve(size);
        Known known(size);
        for (size_t at = 0; at < size; ++at) {
            groups.push_back(add(PyTuple_GetItem(owner_.ptr(), static_cast<Py_ssize_t>(at)), known));
            worked_with_gil(at);
        }
        reference_starts_.push_back(references_.size());
        list_members(groups);
    }

    // The members of each group, one group after the other.
    void list_members(const std::vector<uint32_t> &groups) {
        member_starts_.assign(group_count_ + 1, 0);
        for (uint32_t group : groups) ++member_starts_[group + size_t{1}];
        for (size_t at = 0; at < group_count_; ++at) member_starts_[at + 1] += member_starts_[at];
        std::vector<size_t> next(member_starts_.begin(), member_starts_.end() - 1);
        members_.resize(groups.size());
        for (size_t at = 0; at < groups.size(); ++at)
            members_[next[groups[at]]++] = static_cast<uint32_t>(at);
    }

    void read_columns(nb::object columns) {
        if (PyTuple_Size(columns.ptr()) != 3)
            throw nb::value_error("columns are (hypotheses, references, index)");
        const nb::object systems = tuple_of(PyTuple_GetItem(columns.ptr(), 0));
        reference_tuples_ = tuple_of(PyTuple_GetItem(columns.ptr(), 1));
        index_ = nb::borrow(PyTuple_GetItem(columns.ptr(), 2));
        owner_ = nb::steal<nb::object>(PyTuple_New(PyTuple_Size(systems.ptr())));
        if (!owner_.is_valid()) throw nb::python_error();
        group_count_ = static_cast<size_t>(PyTuple_Size(reference_tuples_.ptr()));
        systems_ = static_cast<size_t>(PyTuple_Size(systems.ptr()));
        if (group_count_)
            check_size(systems_ > UINT32_MAX / group_count_ ? UINT32_MAX : systems_ * group_count_);
        hypotheses_.reserve(systems_ * group_count_);
        for (size_t at = 0; at < systems_; ++at) {
            const auto place = static_cast<Py_ssize_t>(at);
            nb::object lines = tuple_of(PyTuple_GetItem(systems.ptr(), place));
            if (static_cast<size_t>(PyTuple_Size(lines.ptr())) != group_count_)
                throw nb::value_error("every system needs one line per segment");
            for (size_t line = 0; line < group_count_; ++line) {
                worked_with_gil(line);
                const size_t soon = std::min(line + 16, group_count_ - 1);
                prefetch(PyTuple_GetItem(lines.ptr(), static_cast<Py_ssize_t>(soon)));
                hypotheses_.push_back(
                    strings_.view(PyTuple_GetItem(lines.ptr(), static_cast<Py_ssize_t>(line))));
            }
            PyTuple_SetItem(owner_.ptr(), place, lines.release().ptr());
        }
    }

    void add_references(PyObject *references) {
        if (!PyTuple_Check(references) || PyTuple_Size(references) == 0)
            throw nb::value_error("a segment needs a tuple of at least one reference");
        reference_starts_.push_back(references_.size());
        for (Py_ssize_t at = 0; at < PyTuple_Size(references); ++at)
            references_.push_back(strings_.view(PyTuple_GetItem(references, at)));
    }

    // Which group has which tuple of references.
    class Known {
      public:
        explicit Known(size_t most) {
            while (slots_.size() < 2 * most) slots_.resize(2 * slots_.size());
        }

        // The group of the tuple, which is `fresh` where it was not known.
        uint32_t group(PyObject *references, uint32_t fresh) {
            const size_t mask = slots_.size() - 1;
            size_t at = mix(reinterpret_cast<uintptr_t>(references)) & mask;
            while (slots_[at].references && slots_[at].references != references)
                at = (at + 1) & mask;
            if (!slots_[at].references) slots_[at] = {references, fresh};
            return slots_[at].group;
        }

      private:
        struct Slot {
            PyObject *references = nullptr;
            uint32_t group = 0;
        };
        std::vector<Slot> slots_ = std::vector<Slot>(16);
    };

    // Segments of different systems share their tuple of references: prepare it once. Gives back
    // the segment's group.
    uint32_t add(PyObject *segment, Known &known) {
        if (!PyTuple_Check(segment) || PyTuple_Size(segment) < 2)
            throw nb::type_error("a segment is (hypothesis, references, ...)");
        PyObject *references = PyTuple_GetItem(segment, 1);
        const uint32_t group = known.group(references, static_cast<uint32_t>(group_count_));
        if (group == group_count_) {
            add_references(references);
            ++group_count_;
        }
        hypotheses_.push_back(strings_.view(PyTuple_GetItem(segment, 0)));
        return group;
    }

    nb::object owner_, reference_tuples_, index_;
    Strings strings_;
    std::vector<StringView> hypotheses_, references_;
    std::vector<size_t> reference_starts_;
    size_t group_count_ = 0, systems_ = 0;
    // Where segments did not come in columns:
    std::vector<size_t> member_starts_;
    std::vector<uint32_t> members_;
};

} // namespace assay
