// The kernel as Python sees it: whole corpora in, arrays out, the GIL released in between.
#include <algorithm>
#include <cstring>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "batch.hpp"
#include "concordance.hpp"
#include "lines.hpp"
#include "ngrams.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "prepared.hpp"
#include "rouge.hpp"
#include "ter.hpp"
#include "type_swaps.hpp"
#include "types.hpp"

namespace nb = nanobind;

namespace assay {

// An n-gram's length: rows as wide as a larger one would ask for could not be kept.
using Order = uint8_t;

template <class T> nb::ndarray<nb::numpy, T> array(std::vector<T> &&values, std::vector<size_t> shape) {
    auto *kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

// Runs `make(rows)` workers over the groups of a batch and gives back rows of `width` numbers.
// `before` is called with the batch first, with the GIL; it reads the references if they are needed.
template <class Before, class Make>
nb::ndarray<nb::numpy, double> rows(nb::handle segments, size_t width, int threads, Before before,
                                    Make make) {
    Batch batch(segments);
    before(batch);
    std::vector<double> values(batch.size() * width, 0.0);
    {
        nb::gil_scoped_release release;
        using Worker = decltype(make(batch, values.data()));
        const size_t count = thread_count(batch.group_count(), threads);
        std::vector<Worker> workers;
        workers.reserve(count);
        for (size_t t = 0; t < count; ++t) workers.push_back(make(batch, values.data()));
        share(batch.group_count(), workers);
    }
    return array(std::move(values), {batch.size(), width});
}

template <class Make>
nb::ndarray<nb::numpy, double> rows(nb::handle segments, size_t width, int threads, Make make) {
    return rows(segments, width, threads, [](Batch &batch) { batch.read_references(); }, make);
}

nb::object string_of(TextView text) {
    // The machine's own byte order; with 0, a byte order mark would be taken away.
    const uint16_t probe = 1;
    int order = *reinterpret_cast<const uint8_t *>(&probe) ? -1 : 1;
    PyObject *made = PyUnicode_DecodeUTF32(reinterpret_cast<const char *>(text.data()),
                                           static_cast<Py_ssize_t>(4 * text.size()),
                                           "surrogatepass", &order);
    if (!made) throw nb::python_error();
    return nb::steal<nb::object>(made);
}

nb::list tokenize(nb::sequence lines, std::string_view tokenizer, nb::bytes classes) {
    Tokenizer split_words(scheme_named(tokenizer), {classes.c_str(), classes.size()});
    nb::list out;
    for (nb::handle line : lines) {
        worked_with_gil(nb::len(out));
        nb::list words;
        Strings strings;
        split_words.each(strings.view(line.ptr()), [&](TextView word) { words.append(string_of(word)); });
        out.append(words);
    }
    return out;
}

nb::tuple count_lines(nb::tuple lines) {
    LineCounter counter;
    Strings strings;
    for (nb::handle line : lines) counter.add(strings.view(line.ptr()));
    return nb::make_tuple(counter.counts.empty, counter.counts.tokenized);
}

nb::ndarray<nb::numpy, int64_t> word_overlaps(nb::tuple lines, nb::tuple places, nb::tuple sources,
                                              nb::bytes table) {
    if (nb::len(lines) != nb::len(places)) throw nb::value_error("one place for every line");
    Overlaps overlaps({table.c_str(), table.size()});
    Strings strings;
    for (nb::handle source : sources) overlaps.add_source(strings.view(source.ptr()));
    std::vector<int64_t> values;
    values.reserve(3 * nb::len(lines));
    for (size_t at = 0; at < nb::len(lines); ++at) {
        const auto place = nb::cast<size_t>(places[at]);
        if (place >= nb::len(sources)) throw nb::value_error("no source at this place");
        const nb::object line = lines[at];
        const Overlap found = overlaps.with(place, strings.view(line.ptr()));
        values.insert(values.end(), {found.words, found.in_source, found.in_sources});
    }
    return array(std::move(values), {nb::len(lines), 3});
}

using Kept = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// One text per row: the words, with the mask for those that are not kept.
nb::list masked(nb::tuple words, Kept keep, nb::str mask) {
    const size_t size = nb::len(words);
    if (keep.shape(1) != size) throw nb::value_error("masked: one column for every word");
    for (nb::handle word : words)
        if (!PyUnicode_Check(word.ptr())) throw nb::type_error("segments hold strings");
    nb::list out;
    const nb::str blank(" ");
    for (size_t text = 0; text < keep.shape(0); ++text) {
        worked_with_gil(text);
        nb::object row = nb::steal<nb::object>(PyTuple_New(static_cast<Py_ssize_t>(size)));
        if (!row.is_valid()) throw nb::python_error();
        for (size_t at = 0; at < size; ++at) {
            const auto place = static_cast<Py_ssize_t>(at);
            PyObject *word = keep(text, at) ? PyTuple_GetItem(words.ptr(), place) : mask.ptr();
            Py_INCREF(word);
            PyTuple_SetItem(row.ptr(), place, word);
        }
        nb::object joined = nb::steal<nb::object>(PyUnicode_Join(blank.ptr(), row.ptr()));
        if (!joined.is_valid()) throw nb::python_error();
        out.append(joined);
    }
    return out;
}

// The references of a batch as they were prepared before, or are now, where its columns came with an
// index. Without one they are read for whoever prepares them.
template <class References, class MakePrepare>
std::shared_ptr<const std::vector<References>> prepared(Batch &batch, const std::string &key,
                                                        int threads, MakePrepare make) {
    ReferenceIndex *index = nullptr;
    if (!batch.index().is_valid() || !nb::try_cast(batch.index(), index) || !index ||
        !index->is_of(batch.references())) {
        batch.read_references();
        return nullptr;
    }
    {
        nb::gil_scoped_release release;
        if (auto known = index->find<References>(key)) return known;
    }
    batch.read_references();
    nb::gil_scoped_release release;
    using Maker = ReferenceMaker<References, decltype(make())>;
    std::vector<Maker> makers;
    const size_t count = thread_count(batch.group_count(), threads);
    makers.reserve(count);
    for (size_t t = 0; t < count; ++t) makers.push_back(Maker{batch, make()});
    return index->make<References>(batch, key, makers);
}

template <class Cutter, class Kept>
auto ngrams_of_words(nb::handle segments, Scheme scheme, std::string_view table, Order order,
                     int threads) {
    using Counter = WordNgrams<Cutter, Kept>;
    using References = typename Counter::References;
    std::shared_ptr<const std::vector<References>> known;
    const std::string key = std::to_string(static_cast<int>(scheme)) + "," + std::to_string(order);
    return rows(segments, size_t{2} + 2 * order, threads, [&](Batch &batch) {
        known = prepared<References>(batch, key, threads, [&] {
            return [reader = WordReader<Cutter, Kept>(scheme, table, order)](
                       Lines references, References &out) mutable {
                reader.prepare(references, out);
            };
        });
    }, [&](const Batch &batch, double *out) {
        return Counter(batch, scheme, table, order, out, known.get());
    });
}

auto word_ngrams(nb::handle segments, std::string_view tokenizer, nb::bytes classes, Order order,
                 int threads) {
    const Scheme scheme = scheme_named(tokenizer);
    const std::string_view table{classes.c_str(), classes.size()};
    if (ByteTokenizer::knows(scheme))
        return ngrams_of_words<ByteTokenizer, ByteVocabulary>(segments, scheme, table, order,
                                                              threads);
    return ngrams_of_words<Tokenizer, Vocabulary>(segments, scheme, table, order, threads);
}

auto character_ngrams(nb::handle segments, Order char_order, Order word_order,
                      double beta_squared, bool whitespace, bool eps_smoothing, bool legacy,
                      int threads) {
    const CharacterSettings settings{char_order,    word_order, beta_squared, whitespace,
                                     eps_smoothing, legacy};
    std::shared_ptr<const std::vector<CharacterReferences>> known;
    const std::string key = std::to_string(char_order) + "," + std::to_string(word_order) + "," +
                            std::to_string(whitespace) + std::to_string(legacy);
    return rows(segments, 3 * settings.orders(), threads, [&](Batch &batch) {
        known = prepared<CharacterReferences>(batch, key, threads, [&] {
            return [counter = CharacterNgrams(batch, settings, nullptr, nullptr)](
                       Lines references, CharacterReferences &out) mutable {
                counter.prepare(references, out);
            };
        });
    }, [&](const Batch &batch, double *out) {
        return CharacterNgrams(batch, settings, out, known.get());
    });
}

// Rows of `width` numbers for all pairs of each segment, by workers that `make` makes.
template <class Make>
nb::ndarray<nb::numpy, double> pair_rows(nb::handle hypotheses, nb::handle references, size_t width,
                                         int threads, Make make) {
    const PairBatch batch(hypotheses, references);
    std::vector<double> values(batch.pairs() * width, 0.0);
    {
        nb::gil_scoped_release release;
        const std::vector<PairJob> jobs = pair_jobs(batch);
        using Worker = decltype(make(batch, jobs, values.data()));
        std::vector<Worker> workers;
        // Every job is hundreds of comparisons: enough for a thread of its own.
        const size_t count = thread_count(32 * jobs.size(), threads);
        workers.reserve(count);
        for (size_t t = 0; t < count; ++t) workers.push_back(make(batch, jobs, values.data()));
        share(jobs.size(), workers);
    }
    return array(std::move(values), {batch.pairs(), width});
}

auto character_pairs(nb::handle hypotheses, nb::handle references, Order char_order,
                     Order word_order, bool whitespace, bool legacy, int threads) {
    const CharacterSettings settings{char_order, word_order, 1.0, whitespace, false, legacy};
    return pair_rows(hypotheses, references, 3 * settings.orders(), threads,
                     [&](const PairBatch &batch, const std::vector<PairJob> &jobs, double *out) {
                         return CharacterPairs(batch, jobs, settings, out);
                     });
}

template <class Cutter, class Kept>
auto pairs_of_words(nb::handle hypotheses, nb::handle references, Scheme scheme,
                    std::string_view table, Order order, int threads) {
    return pair_rows(hypotheses, references, size_t{2} + 2 * order, threads,
                     [&](const PairBatch &batch, const std::vector<PairJob> &jobs, double *out) {
                         return WordPairs<Cutter, Kept>(batch, jobs, scheme, table, order, out);
                     });
}

auto word_pairs(nb::handle hypotheses, nb::handle references, std::string_view tokenizer,
                nb::bytes classes, Order order, int threads) {
    const Scheme scheme = scheme_named(tokenizer);
    const std::string_view table{classes.c_str(), classes.size()};
    if (ByteTokenizer::knows(scheme))
        return pairs_of_words<ByteTokenizer, ByteVocabulary>(hypotheses, references, scheme, table,
                                                             order, threads);
    return pairs_of_words<Tokenizer, Vocabulary>(hypotheses, references, scheme, table, order,
                                                 threads);
}

auto shifted_edits(nb::handle segments, std::string_view tokenizer, nb::bytes classes,
                   int threads) {
    const WordUnits reader(scheme_named(tokenizer), {classes.c_str(), classes.size()});
    return rows(segments, 2, threads, [&](const Batch &batch, double *out) {
        return EditRows<WordUnits, ShiftedEdits>(batch, reader, out);
    });
}

auto edits(nb::handle segments, std::string_view tokenizer, nb::bytes classes, int threads) {
    const WordUnits reader(scheme_named(tokenizer), {classes.c_str(), classes.size()});
    return rows(segments, 2, threads, [&](const Batch &batch, double *out) {
        return EditRows<WordUnits, EditDistance>(batch, reader, out);
    });
}

auto character_edits(nb::handle segments, bool whitespace, int threads) {
    const CharacterUnits reader(whitespace);
    return rows(segments, 2, threads, [&](const Batch &batch, double *out) {
        return EditRows<CharacterUnits, EditDistance>(batch, reader, out);
    });
}

auto rouge(nb::handle segments, Order order, bool summary, bool stem, int threads) {
    const RougeSettings settings{order, summary, stem};
    return rows(segments, 3, threads, [&](const Batch &batch, double *out) {
        return Rouge(batch, settings, out);
    });
}

nb::tuple type_counts(nb::handle segments, std::string_view tokenizer, nb::bytes classes,
                      bool characters, Order min_order, Order max_order, int threads) {
    const TypeSettings settings{scheme_named(tokenizer), {classes.c_str(), classes.size()},
                                characters, min_order, max_order};
    Batch batch(segments);
    batch.read_references();
    std::vector<TypeCounter> counters;
    std::unique_ptr<TypeOrder> order;
    TypeColumns out;
    {
        nb::gil_scoped_release release;
        const size_t count = thread_count(batch.group_count(), threads);
        counters.reserve(count);
        for (size_t t = 0; t < count; ++t) counters.emplace_back(batch, settings);
        share(batch.group_count(), counters);
        order = std::make_unique<TypeOrder>(counters);
        out.fill(counters, *order, batch.size());
    }
    nb::list names;
    for (TextView type : order->types) {
        names.append(string_of(type));
        worked_with_gil(nb::len(names));
    }
    const size_t entries = out.columns.size();
    return nb::make_tuple(array(std::move(out.starts), {batch.size() + 1}),
                          array(std::move(out.columns), {entries}),
                          array(std::move(out.counts), {entries}), names);
}

template <class T, int Dimensions>
using Input = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Everything that is used as an index is looked at before it is used.
inline void check_type_rows(const Input<int64_t, 1> &starts, const Input<int32_t, 1> &columns,
                            const Input<int32_t, 1> &counts, size_t segments, size_t width) {
    bool good = starts.shape(0) == segments + 1 && columns.shape(0) == counts.shape(0) &&
                width % 3 == 0 && starts(0) == 0 &&
                starts(segments) == static_cast<int64_t>(columns.shape(0));
    for (size_t at = 0; good && at < segments; ++at)
        good = starts(at) <= starts(at + 1) && starts(at) % 3 == 0;
    for (size_t at = 0; good && at < columns.shape(0); at += 3)
        good = at + 2 < columns.shape(0) && columns(at) >= 0 &&
               static_cast<size_t>(columns(at)) + 3 <= width && columns(at) % 3 == 0;
    if (!good) throw nb::value_error("rows of types need three columns per type, stored together");
}

nb::ndarray<nb::numpy, double> type_scores(Input<double, 2> weights, Input<int64_t, 1> starts,
                                           Input<int32_t, 1> columns, Input<int32_t, 1> counts,
                                           size_t width, double beta_squared, bool by_frequency,
                                           double k, int threads) {
    const size_t jobs = weights.shape(0), segments = weights.shape(1);
    check_type_rows(starts, columns, counts, segments, width);
    const TypeRows sparse{starts.data(), columns.data(), counts.data(), segments, width};
    std::vector<double> scores(jobs, 0.0);
    {
        nb::gil_scoped_release release;
        const TypeScores worker(sparse, {beta_squared, by_frequency, k}, weights.data(),
                                scores.data());
        std::vector<TypeScores> workers(thread_count(jobs, threads), worker);
        share(jobs, workers);
    }
    return array(std::move(scores), {jobs});
}

// The differences of pairs of systems, (pairs, trials), where rows are those of all systems.
nb::ndarray<nb::numpy, double> type_swaps(Input<bool, 2> keep, Input<int64_t, 2> pairs,
                                          Input<int64_t, 1> starts, Input<int32_t, 1> columns,
                                          Input<int32_t, 1> counts, size_t width,
                                          double beta_squared, bool by_frequency, double k,
                                          int threads) {
    const size_t trials = keep.shape(0), segments = keep.shape(1), jobs = pairs.shape(0);
    const size_t all = starts.shape(0) - 1;
    if (starts.shape(0) < 1 || segments == 0 || all % segments != 0 || pairs.shape(1) != 2)
        throw nb::value_error("type_swaps: rows of all systems, one after the other");
    check_type_rows(starts, columns, counts, all, width);
    for (size_t at = 0; at < jobs; ++at)
        for (size_t side = 0; side < 2; ++side)
            if (pairs(at, side) < 0 || static_cast<size_t>(pairs(at, side)) >= all / segments)
                throw nb::value_error("type_swaps: pairs are positions of systems");
    const TypeRows sparse{starts.data(), columns.data(), counts.data(), all, width};
    std::vector<double> differences(jobs * trials, 0.0);
    {
        nb::gil_scoped_release release;
        const KeptBits kept(keep.data(), trials, segments);
        const TypeSwaps worker(sparse, segments, {beta_squared, by_frequency, k}, pairs.data(), kept,
                               differences.data());
        std::vector<TypeSwaps> workers(thread_count(jobs, threads), worker);
        share(jobs, workers);
    }
    return array(std::move(differences), {jobs, trials});
}

inline void check_indices(const Input<int32_t, 1> &values, size_t size, size_t limit) {
    bool good = values.shape(0) == size;
    for (size_t at = 0; good && at < size; ++at)
        good = values(at) >= 0 && static_cast<size_t>(values(at)) < limit;
    if (!good) throw nb::value_error("one number of the right range for every score");
}

nb::ndarray<nb::numpy, int64_t> swapped_concordance(Input<int32_t, 1> first,
                                                    Input<int32_t, 1> second,
                                                    Input<int32_t, 1> human,
                                                    Input<int32_t, 1> unit, Input<bool, 2> swaps,
                                                    size_t levels, int threads) {
    const size_t size = human.shape(0), trials = swaps.shape(0);
    check_indices(first, size, levels);
    check_indices(second, size, levels);
    check_indices(unit, size, swaps.shape(1));
    const RankedScores scores{first.data(), second.data(), human.data(), unit.data(),
                              size,         levels,        swaps.shape(1)};
    std::vector<int64_t> counts(trials * 2 * SwappedConcordance::width, 0);
    {
        nb::gil_scoped_release release;
        const SwappedConcordance worker(scores, swaps.data(), counts.data());
        std::vector<SwappedConcordance> workers(thread_count(trials, threads), worker);
        share(trials, workers);
    }
    return array(std::move(counts), {trials, 2, SwappedConcordance::width});
}

inline SortedScores sorted_scores(const Input<double, 1> &values, const Input<int32_t, 1> &human,
                                  const Input<int64_t, 1> &starts, const Input<double, 1> &edges) {
    const size_t size = values.shape(0), groups = starts.shape(0) - 1;
    bool good = human.shape(0) == size && starts.shape(0) > 0 && starts(0) == 0 &&
                starts(groups) == static_cast<int64_t>(size) && edges.shape(0) > 0;
    for (size_t group = 0; good && group < groups; ++group)
        good = starts(group) <= starts(group + 1);
    if (!good) throw nb::value_error("sorted scores, their groups and the edges of windows");
    return {values.data(), human.data(), starts.data(), groups};
}

nb::tuple pair_windows(Input<double, 1> values, Input<int32_t, 1> human, Input<int64_t, 1> starts,
                       Input<double, 1> edges, int threads) {
    const SortedScores scores = sorted_scores(values, human, starts, edges);
    const size_t windows = edges.shape(0) - 1;
    std::vector<int64_t> counts(2 * windows, 0);
    std::vector<double> sizes(2 * windows, 0.0);
    {
        nb::gil_scoped_release release;
        const PairWindows worker(scores, edges.data(), counts.data(), sizes.data());
        std::vector<PairWindows> workers(thread_count(windows, threads), worker);
        share(windows, workers);
    }
    return nb::make_tuple(array(std::move(counts), {windows, 2}), array(std::move(sizes), {windows, 2}));
}

nb::tuple pairs_within(Input<double, 1> values, Input<int32_t, 1> human, Input<int64_t, 1> starts,
                       Input<double, 1> edges) {
    const SortedScores scores = sorted_scores(values, human, starts, edges);
    if (edges.shape(0) != 2) throw nb::value_error("pairs_within: one window");
    std::vector<double> sizes;
    std::vector<int8_t> gains;
    {
        nb::gil_scoped_release release;
        each_range(scores, edges(0), edges(1), [&](size_t p, size_t from, size_t to) {
            for (size_t q = from; q < to; ++q) {
                const double size = scores.values[q] - scores.values[p];
                if (scores.human[q] < scores.human[p] || (scores.human[q] > scores.human[p] && !(size > 0)))
                    continue;
                sizes.push_back(size);
                gains.push_back(scores.human[q] == scores.human[p] ? 1 : -1);
            }
        });
    }
    const size_t count = sizes.size();
    return nb::make_tuple(array(std::move(sizes), {count}), array(std::move(gains), {count}));
}

nb::tuple swapped_windows(Input<double, 1> values, Input<int32_t, 1> human,
                          Input<int64_t, 1> starts, Input<double, 1> edges, Input<int32_t, 1> rows,
                          Input<uint64_t, 2> sides, size_t trials, int threads) {
    const SortedScores scores = sorted_scores(values, human, starts, edges);
    const size_t windows = edges.shape(0) - 1, count = sides.shape(0);
    check_indices(rows, values.shape(0), count);
    if (count % 2 || trials > 64 * sides.shape(1))
        throw nb::value_error("swapped_windows: two rows of bits per unit, a bit per trial");
    std::vector<int64_t> counts(windows * 2 * trials, 0);
    std::vector<int32_t> degrees(windows * 2 * count, 0);
    {
        nb::gil_scoped_release release;
        const SideBits bits(sides.data(), count, sides.shape(1));
        const SwappedWindows worker(scores, rows.data(), bits, edges.data(), trials, counts.data(),
                                    degrees.data());
        std::vector<SwappedWindows> workers(thread_count(windows, threads), worker);
        share(windows, workers);
    }
    return nb::make_tuple(array(std::move(counts), {windows, 2, trials}),
                          array(std::move(degrees), {windows, 2, count}));
}

} // namespace assay

NB_MODULE(_native, m) {
    using namespace nb::literals;
    static PyObject *too_long = PyErr_NewException("assay.kernel.TooLong", PyExc_ValueError, nullptr);
    if (!too_long) throw nb::python_error();
    m.attr("TooLong") = nb::handle(too_long);
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const assay::TooLong &error) {
            const nb::tuple values = nb::make_tuple(error.segment, error.hypothesis, error.reference);
            PyErr_SetObject(too_long, values.ptr());
        }
    });
    nb::class_<assay::ReferenceIndex>(m, "ReferenceIndex").def(nb::init<nb::tuple>(), "references"_a);
    m.def("tokenize", &assay::tokenize, "lines"_a, "tokenizer"_a, "classes"_a = nb::bytes("", 0));
    m.def("count_lines", &assay::count_lines, "lines"_a);
    m.def("word_overlaps", &assay::word_overlaps, "lines"_a, "places"_a, "sources"_a, "table"_a);
    m.def("masked", &assay::masked, "words"_a, "keep"_a, "mask"_a);
    m.def("usual_threads", &assay::usual_threads);
    m.def("word_ngrams", &assay::word_ngrams, "segments"_a, "tokenizer"_a, "classes"_a, "order"_a,
          "threads"_a = 0);
    m.def("character_ngrams", &assay::character_ngrams, "segments"_a, "char_order"_a,
          "word_order"_a, "beta_squared"_a, "whitespace"_a, "eps_smoothing"_a, "legacy"_a,
          "threads"_a = 0);
    m.def("word_pairs", &assay::word_pairs, "hypotheses"_a, "references"_a, "tokenizer"_a,
          "classes"_a, "order"_a, "threads"_a = 0);
    m.def("character_pairs", &assay::character_pairs, "hypotheses"_a, "references"_a,
          "char_order"_a, "word_order"_a, "whitespace"_a, "legacy"_a, "threads"_a = 0);
    m.def("shifted_edits", &assay::shifted_edits, "segments"_a, "tokenizer"_a, "classes"_a,
          "threads"_a = 0);
    m.def("edits", &assay::edits, "segments"_a, "tokenizer"_a, "classes"_a, "threads"_a = 0);
    m.def("character_edits", &assay::character_edits, "segments"_a, "whitespace"_a,
          "threads"_a = 0);
    m.def("rouge", &assay::rouge, "segments"_a, "order"_a, "summary"_a, "stem"_a, "threads"_a = 0);
    m.def("type_counts", &assay::type_counts, "segments"_a, "tokenizer"_a, "classes"_a,
          "characters"_a, "min_order"_a, "max_order"_a, "threads"_a = 0);
    m.def("type_scores", &assay::type_scores, "weights"_a, "starts"_a, "columns"_a, "counts"_a,
          "width"_a, "beta_squared"_a, "by_frequency"_a, "k"_a, "threads"_a = 0);
    m.def("type_swaps", &assay::type_swaps, "keep"_a, "pairs"_a, "starts"_a, "columns"_a,
          "counts"_a, "width"_a, "beta_squared"_a, "by_frequency"_a, "k"_a, "threads"_a = 0);
    m.def("swapped_concordance", &assay::swapped_concordance, "first"_a, "second"_a, "human"_a,
          "unit"_a, "swaps"_a, "levels"_a, "threads"_a = 0);
    m.def("pair_windows", &assay::pair_windows, "values"_a, "human"_a, "starts"_a, "edges"_a,
          "threads"_a = 0);
    m.def("pairs_within", &assay::pairs_within, "values"_a, "human"_a, "starts"_a, "edges"_a);
    m.def("swapped_windows", &assay::swapped_windows, "values"_a, "human"_a, "starts"_a, "edges"_a,
          "rows"_a, "sides"_a, "trials"_a, "threads"_a = 0);
}
