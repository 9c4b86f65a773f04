// Binds core/arff: the parser, and its arrays passed to numpy without copies.
#include "arff/arff.hpp"

#include <nanobind/stl/string.h>

#include <initializer_list>

#include "arrays.hpp"
#include "init.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using arff::Parser;

template <typename T>
nb::object hand_over(GrowingArray<T>& values, std::initializer_list<std::size_t> shape) {
    T* data = values.release().release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <typename T>
nb::object hand_over(GrowingArray<T>& values) {
    const std::size_t size = values.size();
    return hand_over(values, {size});
}

nb::str to_str(std::string_view text) {
    return nb::str(text.data(), text.size());
}

void feed(Parser& parser, nb::bytes bytes) {
    const std::string_view view(bytes.c_str(), bytes.size());
    const Unlocked unlocked;
    parser.feed(view);
}

/// Three lists rather than one of tuples: files may have many thousands of attributes.
nb::tuple attributes(const Parser& parser) {
    nb::list names;
    std::vector<std::uint8_t> kinds;
    std::vector<std::int32_t> domains_of;
    for (const arff::Attribute& attribute : parser.header().attributes) {
        names.append(to_str(attribute.name));
        kinds.push_back(static_cast<std::uint8_t>(attribute.kind));
        domains_of.push_back(attribute.domain);
    }
    return nb::make_tuple(names, to_numpy(std::move(kinds)), to_numpy(std::move(domains_of)));
}

nb::list domains(const Parser& parser) {
    nb::list listed;
    for (const auto& domain : parser.header().domains) {
        nb::list values;
        for (const std::string& value : domain->values()) values.append(to_str(value));
        listed.append(nb::tuple(values));
    }
    return listed;
}

nb::dict date_formats(const Parser& parser) {
    nb::dict formats;
    std::int64_t at = 0;
    for (const arff::Attribute& attribute : parser.header().attributes) {
        if (attribute.is_date) formats[nb::int_(at)] = to_str(attribute.date_format);
        ++at;
    }
    return formats;
}

nb::list named_places(const std::vector<arff::NamedPlace>& places) {
    nb::list listed;
    for (const arff::NamedPlace& place : places) {
        listed.append(nb::make_tuple(to_str(place.name), place.line, place.column));
    }
    return listed;
}

nb::object declared_labels(const Parser& parser) {
    if (!parser.header().labels_declared) return nb::none();
    return named_places(parser.header().declared_labels);
}

nb::object numbers(Parser& parser) {
    arff::Rows& rows = parser.rows();
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    const std::size_t n_columns = n_rows == 0 ? 0 : rows.numbers.size() / n_rows;
    return hand_over(rows.numbers, {n_rows, n_columns});
}

template <typename Code>
void append_panels(nb::list& listed, arff::CodePanels<Code>& panels, std::size_t n_rows) {
    std::vector<typename arff::CodePanels<Code>::Panel> turned;
    {
        const Unlocked unlocked;
        turned = panels.take(n_rows);
    }
    for (auto& panel : turned) {
        nb::object columns = hand_over(panel.codes, {panel.attributes.size(), n_rows});
        listed.append(nb::make_tuple(to_numpy(std::move(panel.attributes)), columns));
    }
}

nb::list codes(Parser& parser) {
    arff::Rows& rows = parser.rows();
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    nb::list listed;
    append_panels(listed, rows.codes8, n_rows);
    append_panels(listed, rows.codes16, n_rows);
    append_panels(listed, rows.codes32, n_rows);
    return listed;
}

nb::tuple cells(Parser& parser) {
    arff::SparseCells& stored = parser.rows().cells;
    return nb::make_tuple(hand_over(stored.values), hand_over(stored.indices),
                          hand_over(stored.indptr));
}

nb::tuple label_sets(Parser& parser) {
    arff::LabelSets& labels = parser.rows().labels;
    return nb::make_tuple(hand_over(labels.indptr), hand_over(labels.numbers),
                          named_places(labels.names));
}

nb::list texts(Parser& parser) {
    nb::list columns;
    for (const arff::TextColumn& column : parser.rows().texts) {
        nb::list values;
        std::size_t begin = 0;
        for (std::size_t r = 0; r < column.ends.size(); ++r) {
            const auto end = static_cast<std::size_t>(column.ends[r]);
            if (column.is_missing[r]) {
                values.append(nb::none());
            } else {
                values.append(to_str({column.bytes.data() + begin, end - begin}));
            }
            begin = end;
        }
        columns.append(values);
    }
    return columns;
}

nb::object weights(Parser& parser) {
    arff::Rows& rows = parser.rows();
    return rows.weights.size() == 0 ? nb::none() : hand_over(rows.weights);
}

}  // namespace

void init_arff(nb::module_& m) {
    nb::exception<arff::ParseError>(m, "ArffError", PyExc_ValueError);
    nb::class_<Parser>(m, "ArffParser", "Reads an ARFF file that comes in pieces of UTF-8 bytes.")
        .def(
            "__init__",
            [](Parser* self, std::int64_t index_base, bool rename_duplicates) {
                new (self) Parser({index_base, rename_duplicates});
            },
            nb::arg("index_base") = 0, nb::arg("rename_duplicates") = false)
        .def("feed", &feed, nb::arg("bytes"), "Read the next piece.")
        .def("finish", &Parser::finish, "Read the last line, after all pieces.")
        .def_prop_ro("n_rows", [](Parser& parser) { return parser.rows().n_rows; })
        .def_prop_ro("is_sparse", [](Parser& parser) { return parser.rows().is_sparse; })
        .def_prop_ro("relation", [](Parser& parser) { return to_str(parser.header().relation); })
        .def("attributes", &attributes,
             nb::sig("def attributes(self) -> tuple[list[str], numpy.typing.NDArray[numpy.uint8], "
                     "numpy.typing.NDArray[numpy.int32]]"),
             "Names, kinds (0 numeric, 1 nominal, 2 text, 3 labels), numbers of domains or -1.")
        .def("date_formats", &date_formats, nb::sig("def date_formats(self) -> dict[int, str]"),
             "The formats of the text attributes that are dates, by position.")
        .def("domains", &domains, nb::sig("def domains(self) -> list[tuple[str, ...]]"),
             "The lists of nominal values, each once.")
        .def("declared_labels", &declared_labels,
             nb::sig("def declared_labels(self) -> list[tuple[str, int, int]] | None"),
             "(label, line, column) of the header's list; None without one.")
        .def("numbers", &numbers,
             nb::sig("def numbers(self) -> numpy.typing.NDArray[numpy.float64]"),
             "Rows by numeric attributes of a dense file; hands it over.")
        .def("codes", &codes,
             nb::sig("def codes(self) -> list[tuple[numpy.typing.NDArray[numpy.int32], "
                     "numpy.typing.NDArray[numpy.signedinteger]]]"),
             "(attributes, codes by attribute and row) in panels; hands them over.")
        .def("cells", &cells,
             nb::sig("def cells(self) -> tuple[numpy.typing.NDArray[numpy.float64], "
                     "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]"),
             "(values, indices, indptr) of a sparse file; hands them over.")
        .def("label_sets", &label_sets,
             nb::sig("def label_sets(self) -> tuple[numpy.typing.NDArray[numpy.int64], "
                     "numpy.typing.NDArray[numpy.int32], list[tuple[str, int, int]]]"),
             "(indptr, numbers, [(label, line, column)]); hands them over.")
        .def("texts", &texts, nb::sig("def texts(self) -> list[list[str | None]]"),
             "The string and key attributes, a list each.")
        .def("weights", &weights,
             nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64] | None"),
             "The weights of the rows, or None; hands them over.");
}

}  // namespace ramify::bindings
