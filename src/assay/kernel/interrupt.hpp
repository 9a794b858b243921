// Ctrl-C: loops that can be long say now and then how much they did, and end if they are to.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>

namespace assay {

namespace nb = nanobind;

// Ends a thread whose job has failed, or was interrupted, in another one.
struct Stopped {};

// One for each call of the kernel. Only the thread that Python called may ask Python for signals.
class Watch {
  public:
    static constexpr std::chrono::milliseconds pause{100};

    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    void look(bool caller) {
        if (stopped_.load(std::memory_order_relaxed)) throw Stopped{};
        if (!caller || Clock::now() < next_) return;
        const nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        next_ = Clock::now() + pause;
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> stopped_{false};
    Clock::time_point next_ = Clock::now() + pause;
};

// What this thread works on, and how many steps it takes before it looks at the watch again.
struct Attention {
    static constexpr size_t steps = size_t{1} << 21; // a few milliseconds
    Watch *watch = nullptr;
    bool caller = false;
    size_t left = steps;
};

inline thread_local Attention attention;

// Throws where the job is to end. `steps` is the work since the last time, in nanoseconds or so.
inline void worked(size_t steps) {
    Attention &mine = attention;
    if (steps < mine.left) {
        mine.left -= steps;
        return;
    }
    mine.left = Attention::steps;
    if (mine.watch) mine.watch->look(mine.caller);
}

// For loops that hold the GIL: every so many rounds Python is asked for signals.
inline void worked_with_gil(size_t round) {
    if (round % 4096 == 4095 && PyErr_CheckSignals() != 0) throw nb::python_error();
}

} // namespace assay
