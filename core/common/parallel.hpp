// Parallel loops, and a way to interrupt them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace ramify {

/// Thrown when the caller asks to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks the caller every 50 ms whether to stop. Only the thread that created the signal asks, as
/// the caller may have to acquire Python's lock; the others check a flag.
class StopSignal {
  public:
    explicit StopSignal(std::function<bool()> asked);

    void check() {
        if (asked_) ask();
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

  private:
    void ask();

    std::function<bool()> asked_;
    const void* owner_;        // a thread, see this_thread()
    std::int64_t last_asked_;  // in nanoseconds of a steady clock
    std::atomic<bool> stopped_{false};
};

/// The loop of parallel_for, which is compiled once for all tasks.
void run_tasks(unsigned n_threads, std::size_t n_tasks, StopSignal& signal, void* task,
               void (*run)(void* task, unsigned thread, std::size_t index));

/// Runs task(thread, index) for every index below n_tasks. Indices are handed out in increasing
/// order; the calling thread is thread 0. If fewer threads can be started, those do all the work.
/// The first exception is rethrown at the end.
template <typename Task>
void parallel_for(unsigned n_threads, std::size_t n_tasks, StopSignal& signal, Task task) {
    run_tasks(n_threads, n_tasks, signal, &task, [](void* any, unsigned thread, std::size_t i) {
        (*static_cast<Task*>(any))(thread, i);
    });
}

}  // namespace ramify
