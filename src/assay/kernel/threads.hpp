// Threads that wait for more to do: to start one takes as long as to score some hundred segments.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

namespace assay {

class Threads {
  public:
    // Those of this process. They are never taken down: they wait until it ends.
    static Threads &here() {
        forget_after_fork();
        Threads *there = current().load();
        if (there) return *there;
        auto *fresh = new Threads;
        if (current().compare_exchange_strong(there, fresh)) return *fresh;
        delete fresh;
        return *there;
    }

    // Has a thread do it, one that waits if there is any. Throws where the machine gives none. It
    // calls `done` when it is free for the next.
    void start(std::function<void()> job, std::function<void()> done) {
        if (Waiting *waiting = taken()) {
            const std::lock_guard<std::mutex> hold(waiting->lock);
            waiting->job = std::move(job), waiting->done = std::move(done);
            waiting->called.notify_one();
            return;
        }
        auto fresh = std::make_unique<Waiting>();
        fresh->job = std::move(job), fresh->done = std::move(done);
        std::thread([this, mine = fresh.get()] { live(*mine); }).detach();
        fresh.release();
    }

  private:
    // A thread that has nowhere to wait would end the process.
    Threads() { waiting_.reserve(most); }

    struct Waiting {
        std::mutex lock;
        std::condition_variable called;
        std::function<void()> job, done;
    };

    static constexpr size_t most = 256; // threads that wait

    static std::atomic<Threads *> &current() {
        static std::atomic<Threads *> threads{nullptr};
        return threads;
    }

    // A forked process has no threads but one.
    static void forget_after_fork() {
#ifndef _WIN32
        static const int told = pthread_atfork(nullptr, nullptr, [] { current().store(nullptr); });
        (void)told;
#endif
    }

    Waiting *taken() {
        const std::lock_guard<std::mutex> hold(lock_);
        if (waiting_.empty()) return nullptr;
        Waiting *waiting = waiting_.back();
        waiting_.pop_back();
        return waiting;
    }

    void live(Waiting &mine) {
#ifndef _WIN32
        // Signals are for Python's own threads.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
#endif
        for (;;) {
            std::unique_lock<std::mutex> hold(mine.lock);
            mine.called.wait(hold, [&mine] { return static_cast<bool>(mine.job); });
            mine.job();
            mine.job = nullptr;
            const std::function<void()> done = std::move(mine.done);
            const bool stays = rejoin(mine);
            done(); // whoever takes this thread now waits for its lock
            if (stays) continue;
            hold.unlock();
            delete &mine;
            return;
        }
    }

    bool rejoin(Waiting &mine) {
        const std::lock_guard<std::mutex> hold(lock_);
        if (waiting_.size() == most) return false;
        waiting_.push_back(&mine);
        return true;
    }

    std::mutex lock_;
    std::vector<Waiting *> waiting_;
};

} // namespace assay
