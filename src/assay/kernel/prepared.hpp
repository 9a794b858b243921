// References that were prepared once, for one system after the other.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>

#include "batch.hpp"
#include "parallel.hpp"

namespace assay {

// A tuple of references and what a metric made of it the last time. Keeps one metric's form.
class ReferenceIndex {
  public:
    explicit ReferenceIndex(nb::tuple references) : references_(std::move(references)) {}

    bool is_of(nb::handle references) const { return references.ptr() == references_.ptr(); }

    // What was made before with the same settings, which `key` tells apart, or nothing. Called
    // without the GIL, as is `make`.
    template <class References>
    std::shared_ptr<const std::vector<References>> find(const std::string &key) {
        const std::lock_guard<std::mutex> hold(lock_);
        if (key + typeid(References).name() != key_) return nullptr;
        return std::static_pointer_cast<const std::vector<References>>(kept_);
    }

    template <class References, class Maker>
    std::shared_ptr<const std::vector<References>> make(const Batch &batch, const std::string &key,
                                                        std::vector<Maker> &makers) {
        auto made = std::make_shared<std::vector<References>>(batch.group_count());
        for (Maker &maker : makers) maker.target = made->data();
        share(batch.group_count(), makers);
        const std::lock_guard<std::mutex> hold(lock_);
        kept_ = made;
        key_ = key + typeid(References).name();
        return made;
    }

  private:
    nb::tuple references_;
    std::mutex lock_;
    std::string key_;
    std::shared_ptr<const void> kept_;
};

// One thread's part of preparing: `prepare(references, out)` into a buffer, kept without its slack.
template <class References, class Prepare> struct ReferenceMaker {
    const Batch &batch;
    Prepare prepare;
    References buffer{};
    References *target = nullptr;

    void operator()(size_t job) {
        batch.prefetch_group(job + 1);
        prepare(batch.group(job).references, buffer);
        target[job] = buffer.compact();
    }
};

} // namespace assay
