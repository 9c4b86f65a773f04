// Parallel loops, and a way to interrupt them.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ramify {

/// Thrown when the caller asks to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks the caller every 50 ms whether to stop. Only the thread that created the signal asks, as
/// the caller may have to acquire Python's lock; the others check a flag.
class StopSignal {
  public:
    explicit StopSignal(std::function<bool()> asked)
        : asked_(std::move(asked)), owner_(std::this_thread::get_id()) {}

    void check() {
        if (asked_ && std::this_thread::get_id() == owner_) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last_ > std::chrono::milliseconds(50)) {
                last_ = now;
                if (asked_()) stop();
            }
        }
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

  private:
    std::function<bool()> asked_;
    std::thread::id owner_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    std::atomic<bool> stopped_{false};
};

/// Runs task(thread, index) for every index below n_tasks. Indices are handed out in increasing
/// order; the calling thread is thread 0. The first exception is rethrown at the end.
template <typename Task>
void parallel_for(unsigned n_threads, std::size_t n_tasks, StopSignal& signal, Task task) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&](unsigned thread) {
        try {
            for (std::size_t i = next++; i < n_tasks; i = next++) task(thread, i);
        } catch (...) {
            const std::lock_guard lock(failure_lock);
            if (!failure) failure = std::current_exception();
            signal.stop();
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < n_threads && t < n_tasks; ++t) helpers.emplace_back(work, t);
    work(0);
    for (auto& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ramify
