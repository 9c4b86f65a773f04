#include "common/parallel.hpp"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#if !defined(_WIN32)
#include <pthread.h>
#endif

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

/// One parallel loop, which the calling thread leads as thread 0 and others may help with.
class Loop {
  public:
    Loop(std::size_t n_tasks, StopSignal& signal, void* task,
         void (*run)(void* task, unsigned thread, std::size_t index))
        : n_tasks_(n_tasks), signal_(signal), task_(task), run_(run) {}

    /// Runs tasks until none is left.
    void work(unsigned thread) {
        try {
            for (std::size_t i = next_++; i < n_tasks_; i = next_++) run_(task_, thread, i);
        } catch (...) {
            const std::lock_guard lock(failure_lock_);
            if (!failure_) failure_ = std::current_exception();
            signal_.stop();
        }
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

    std::fenv_t rounding;  // of the leader; that of other threads may differ
    // Of the pool, under its lock.
    unsigned n_wanted = 0;  // further helpers
    unsigned n_joined = 0;
    unsigned n_helping = 0;
    std::condition_variable left;  // the last helper has

  private:
    std::size_t n_tasks_;
    StopSignal& signal_;
    void* task_;
    void (*run_)(void* task, unsigned thread, std::size_t index);
    std::atomic<std::size_t> next_{0};
    std::mutex failure_lock_;
    std::exception_ptr failure_;
};

/// Threads that wait for loops to help with. The leader of a loop waits only for those who have
/// joined it: loops inside of loops, and more loops than threads, cannot block each other.
class ThreadPool {
  public:
    /// Runs all tasks of a loop with at most `n_helpers` further threads.
    void lead(Loop& loop, unsigned n_helpers) {
        std::fegetenv(&loop.rounding);
        {
            const std::lock_guard lock(lock_);
            open_.push_back(&loop);
            loop.n_wanted = n_helpers;
            n_wanted_ += n_helpers;
            start_threads();
        }
        for (unsigned k = 0; k < n_helpers; ++k) opened_.notify_one();
        loop.work(0);
        std::unique_lock lock(lock_);
        if (loop.n_wanted > 0) std::erase(open_, &loop);
        n_wanted_ -= loop.n_wanted;
        loop.left.wait(lock, [&] { return loop.n_helping == 0; });
    }

  private:
    /// As many as are wanted, or as the system allows.
    void start_threads() {
        try {
            for (; n_idle_ < n_wanted_; ++n_idle_) std::thread([this] { wait(); }).detach();
        } catch (const std::system_error&) {  // no more threads
        } catch (const std::bad_alloc&) {     // no memory for another one
        }
    }

    [[noreturn]] void wait() {
        std::unique_lock lock(lock_);
        for (;;) {
            opened_.wait(lock, [&] { return !open_.empty(); });
            Loop& loop = *open_.front();
            const unsigned thread = ++loop.n_joined;
            --n_wanted_;
            if (--loop.n_wanted == 0) open_.pop_front();
            ++loop.n_helping;
            --n_idle_;
            lock.unlock();
            std::fesetenv(&loop.rounding);
            loop.work(thread);
            lock.lock();
            ++n_idle_;
            if (--loop.n_helping == 0) loop.left.notify_one();
        }
    }

    std::mutex lock_;
    std::condition_variable opened_;
    std::deque<Loop*> open_;  // loops that want helpers
    unsigned n_wanted_ = 0;   // by all of them
    unsigned n_idle_ = 0;
};

ThreadPool* make_pool();

// Never destroyed: threads may wait in it until the process ends.
ThreadPool* pool = make_pool();

ThreadPool* make_pool() {
#if !defined(_WIN32)
    // A child process has none of the threads; its copy of the pool may even be locked.
    static const int registered = pthread_atfork(nullptr, nullptr, [] { pool = new ThreadPool; });
    static_cast<void>(registered);
#endif
    return new ThreadPool;
}

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
    Loop loop(n_tasks, signal, task, run);
    const std::size_t n_working = std::min<std::size_t>(n_threads, n_tasks);
    if (n_working > 1) {
        pool->lead(loop, static_cast<unsigned>(n_working - 1));
    } else {
        loop.work(0);
    }
    loop.rethrow();
}

}  // namespace ramify
