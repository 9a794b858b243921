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

    // What `make(group, out)` makes of every group's references, made where it is not there yet.
    // `key` tells settings apart. Called without the GIL.
    template <class References, class Maker>
    std::shared_ptr<const std::vector<References>> get(const Batch &batch, const std::string &key,
                                                       std::vector<Maker> &makers) {
        std::lock_guard<std::mutex> hold(lock_);
        const std::string full = key + typeid(References).name();
        if (full != key_) {
            auto made = std::make_shared<std::vector<References>>(batch.groups().size());
            for (Maker &maker : makers) maker.target = made->data();
            share(batch.groups().size(), makers);
            kept_ = made;
            key_ = full;
        }
        return std::static_pointer_cast<const std::vector<References>>(kept_);
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
        prepare(batch.groups()[job].references, buffer);
        target[job] = buffer.compact();
    }
};

} // namespace assay
