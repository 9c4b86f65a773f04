// Parallel loops, and a way to interrupt them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
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

/// Threads that are joined at the end of their scope.
class Helpers {
  public:
    Helpers() = default;
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    ~Helpers() {
        for (auto& thread : threads_) thread.join();
    }

    /// Starts threads that call work(1), work(2), ..., at most n, or as many as the system allows.
    template <typename Work>
    void start(std::size_t n, const Work& work) {
        try {
            threads_.reserve(n);
            while (threads_.size() < n) {
                threads_.emplace_back(std::cref(work), static_cast<unsigned>(threads_.size() + 1));
            }
        } catch (const std::system_error&) {  // no more threads
        } catch (const std::bad_alloc&) {     // no memory for another one
        }
    }

  private:
    std::vector<std::thread> threads_;
};

/// Runs task(thread, index) for every index below n_tasks. Indices are handed out in increasing
/// order; the calling thread is thread 0. If fewer threads can be started, those do all the work.
/// The first exception is rethrown at the end.
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
    {
        Helpers helpers;
        const std::size_t n_working = std::min<std::size_t>(n_threads, n_tasks);
        if (n_working > 1) helpers.start(n_working - 1, work);
        work(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ramify
