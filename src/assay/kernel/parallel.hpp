// Work shared among threads: every thread has a worker of its own and takes blocks of jobs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

// Calls workers[t](job) once for each job in [0, jobs), a thread per worker.
template <class Worker> void share(size_t jobs, std::vector<Worker> &workers) {
    constexpr size_t block = 16;
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    auto run = [&](Worker &worker) {
        try {
            for (size_t from; (from = next.fetch_add(block)) < jobs;)
                for (size_t job = from; job < std::min(jobs, from + block); ++job) worker(job);
        } catch (...) {
            std::lock_guard<std::mutex> hold(lock);
            failure = std::current_exception();
            next = jobs;
        }
    };
    std::vector<std::thread> threads;
    try {
        for (size_t t = 1; t < workers.size(); ++t) threads.emplace_back(run, std::ref(workers[t]));
    } catch (const std::system_error &) {
        // The machine gives no more threads: those that run do all the work.
    }
    run(workers[0]);
    for (std::thread &thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

} // namespace assay
