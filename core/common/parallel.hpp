// Work shared among a few threads, and a way to stop it.
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

/// Thrown out of long work when the caller asked to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks the caller now and then whether to go on. Only the thread that made it may ask the caller
/// (it may have to take Python's lock); the others look at the flag.
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

/// Runs task(thread, index) for every index below n_tasks; indices are handed out in order, the
/// calling thread is thread 0 and works too. The first exception is thrown again at the end.
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
