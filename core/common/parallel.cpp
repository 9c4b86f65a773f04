#include "common/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ramify {

namespace {

/// The address of a variable of the calling thread, which no other thread has.
const void* this_thread() {
    static thread_local const char mark = 0;
    return &mark;
}

std::int64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

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

}  // namespace

StopSignal::StopSignal(std::function<bool()> asked)
    : asked_(std::move(asked)), owner_(this_thread()), last_asked_(nanoseconds()) {}

void StopSignal::ask() {
    constexpr std::int64_t pause = 50'000'000;
    if (this_thread() != owner_) return;
    const auto now = nanoseconds();
    if (now - last_asked_ <= pause) return;
    last_asked_ = now;
    if (asked_()) stop();
}

void run_tasks(unsigned n_threads, std::size_t n_tasks, StopSignal& signal, void* task,
               void (*run)(void* task, unsigned thread, std::size_t index)) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&](unsigned thread) {
        try {
            for (std::size_t i = next++; i < n_tasks; i = next++) run(task, thread, i);
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
