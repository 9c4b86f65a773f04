// Binds stop flags, and finishes work in other threads before the interpreter finalizes.
#include "stopping.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "init.hpp"

namespace nb = nanobind;

namespace ramify::bindings {

Unlocked::Count::Count() {
    if (finishing() && !in_main_thread()) {
        throw std::runtime_error("the interpreter is shutting down");
    }
    ++n_running_;
}

bool Unlocked::in_main_thread() {
    return PyThread_get_thread_ident() == main_thread_;
}

void Unlocked::start(unsigned long main_thread) {
    main_thread_ = main_thread;
    n_running_ = 0;
}

void Unlocked::finish() {
    finishing_ = true;
    const nb::gil_scoped_release release;
    while (n_running_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void init_stopping(nb::module_& m) {
    nb::class_<StopFlag>(m, "StopFlag", "Stops the work of threads.")
        .def(
            "__init__", [](StopFlag* place, StopFlag* parent) { new (place) StopFlag{parent}; },
            nb::arg("parent") = nb::none(), nb::keep_alive<1, 2>())
        .def("set", [](StopFlag& flag) { flag.set = true; })
        .def("is_set", &StopFlag::is_set);
    m.def(
        "watched_flag", [] { return watched_flag; }, nb::rv_policy::reference,
        "The flag that stops all work of this thread, if any.");
    m.def(
        "watch_flag", [](StopFlag* flag) { watched_flag = flag; }, nb::arg("flag").none(),
        "Let a flag stop all work of this thread; the caller keeps it alive.");
    const auto start = nb::cpp_function([] {
        const auto main = nb::module_::import_("threading").attr("main_thread")();
        Unlocked::start(nb::cast<unsigned long>(main.attr("ident")));
    });
    start();
    const auto os = nb::module_::import_("os");
    if (nb::hasattr(os, "register_at_fork")) {
        os.attr("register_at_fork")(nb::arg("after_in_child") = start);
    }
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&Unlocked::finish));
}

}  // namespace ramify::bindings
