// Work shared among threads: every thread has a worker of its own and takes blocks of jobs.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interrupt.hpp"
#include "threads.hpp"

namespace assay {

// Where no number of threads is asked for: $ASSAY_THREADS, or one per core.
inline size_t usual_threads() {
    const char *given = std::getenv("ASSAY_THREADS");
    const long threads = given ? std::strtol(given, nullptr, 10) : 0;
    return threads > 0 ? static_cast<size_t>(threads)
                       : std::max(1u, std::thread::hardware_concurrency());
}

inline size_t thread_count(size_t jobs, int wanted) {
    const size_t threads = wanted > 0 ? static_cast<size_t>(wanted) : usual_threads();
    return std::max<size_t>(1, std::min(threads, jobs / 32 + 1));
}

// Calls workers[t](job) once for each job in [0, jobs), a thread per worker. The first failure, or
// Ctrl-C, ends all threads. Called without the GIL.
template <class Worker> class Shared {
  public:
    Shared(size_t jobs, std::vector<Worker> &workers) : jobs_(jobs), workers_(workers) {}

    void run() {
        try {
            for (size_t t = 1; t < workers_.size(); ++t) {
                Threads::here().start([this, t] { work(workers_[t], false); }, [this] { finish(); });
                const std::lock_guard<std::mutex> hold(lock_);
                ++started_;
            }
        } catch (const std::exception &) {
            // The machine gives no more threads, or no memory for them: those that run do all the
            // work. Nothing may leave this function before they are through.
        }
        work(workers_[0], true);
        wait();
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void work(Worker &worker, bool caller) {
        constexpr size_t block = 16;
        attention = {&watch_, caller, Attention::steps};
        guarded([&] {
            for (size_t from; (from = next_.fetch_add(block)) < jobs_;)
                for (size_t job = from; job < std::min(jobs_, from + block); ++job) {
                    worker(job);
                    worked(1000);
                }
        });
        attention = {};
    }

    // The last that a thread does here: whoever waits may be gone once the lock is open.
    void finish() {
        const std::lock_guard<std::mutex> hold(lock_);
        ++finished_;
        changed_.notify_all();
    }

    // Until all threads are through; Ctrl-C is looked for all the while.
    void wait() {
        std::unique_lock<std::mutex> hold(lock_);
        while (!changed_.wait_for(hold, Watch::pause, [this] { return finished_ == started_; })) {
            hold.unlock();
            guarded([this] { watch_.look(true); });
            hold.lock();
        }
    }

    template <class Action> void guarded(Action action) {
        try {
            action();
        } catch (const Stopped &) {
            // The thread that stopped the others knows why.
        } catch (...) {
            const std::lock_guard<std::mutex> hold(lock_);
            if (!failure_) failure_ = std::current_exception();
            watch_.stop();
            next_ = jobs_;
        }
    }

    const size_t jobs_;
    std::vector<Worker> &workers_;
    std::atomic<size_t> next_{0};
    Watch watch_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::exception_ptr failure_;
    size_t started_ = 0, finished_ = 0;
};

template <class Worker> void share(size_t jobs, std::vector<Worker> &workers) {
    Shared<Worker>(jobs, workers).run();
}

} // namespace assay
