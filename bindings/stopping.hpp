// How Python interrupts the core (Ctrl-C in the main thread, a flag in all others), and how the
// core works without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "common/parallel.hpp"

namespace ramify::bindings {

/// Python delivers signals to its main thread only; work in other threads checks this flag. A
/// flag counts as set if its parent is set.
struct StopFlag {
    const StopFlag* parent = nullptr;
    std::atomic<bool> set{false};

    bool is_set() const {
        for (const StopFlag* flag = this; flag != nullptr; flag = flag->parent) {
            if (flag->set.load(std::memory_order_relaxed)) return true;
        }
        return false;
    }
};

/// The flag that stops all work of this thread, if any.
inline thread_local StopFlag* watched_flag = nullptr;

/// Counts the threads that work without Python's lock. A thread that asks for the lock after the
/// interpreter has begun to finalize is ended by Python in the middle of C++ code, which aborts
/// the process. So `finish`, which runs before that, stops all threads and waits for them.
class Unlocked {
  public:
    Unlocked() = default;
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    static bool in_main_thread();
    static bool finishing() { return finishing_.load(std::memory_order_relaxed); }
    /// Declares the calling thread, the only one after a fork, the main thread.
    static void start(unsigned long main_thread);
    static void finish();

  private:
    struct Count {
        Count();
        ~Count() { --n_running_; }
    };
    static inline std::atomic<int> n_running_{0};
    static inline std::atomic<bool> finishing_{false};
    static inline std::atomic<unsigned long> main_thread_{0};

    Count count_;  // first: the thread is counted until it has the lock again
    nanobind::gil_scoped_release release_;
};

inline std::function<bool()> interrupted_by(const StopFlag* flag) {
    return [flag, watched = watched_flag, is_main = Unlocked::in_main_thread()] {
        if (flag != nullptr && flag->is_set()) return true;
        if (watched != nullptr && watched->is_set()) return true;
        if (!is_main) return Unlocked::finishing();
        nanobind::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;
    };
}

/// Runs work of the core without Python's lock; turns an interruption into an exception.
template <typename Work>
auto stoppable(Work work) {
    try {
        Unlocked unlocked;
        return work();
    } catch (const Interrupted&) {
        // A signal has set its own exception; a flag has not.
        if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
        throw std::runtime_error("stopped on request");
    }
}

}  // namespace ramify::bindings
