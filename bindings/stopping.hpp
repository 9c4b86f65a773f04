// How Python interrupts the core: Ctrl-C in the main thread, a flag in all others.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "common/parallel.hpp"

namespace ramify::bindings {

/// Python delivers signals to its main thread only; work in other threads checks this flag.
struct StopFlag {
    std::atomic<bool> set{false};
};

inline std::function<bool()> interrupted_by(const StopFlag* flag) {
    return [flag] {
        if (flag != nullptr && flag->set.load(std::memory_order_relaxed)) return true;
        nanobind::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;
    };
}

/// Runs work of the core without Python's lock; turns an interruption into an exception.
template <typename Work>
auto stoppable(Work work) {
    try {
        nanobind::gil_scoped_release release;
        return work();
    } catch (const Interrupted&) {
        // A signal has set its own exception; a flag has not.
        if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
        throw std::runtime_error("stopped on request");
    }
}

}  // namespace ramify::bindings
