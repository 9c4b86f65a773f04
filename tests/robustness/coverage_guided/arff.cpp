// A target for libFuzzer: the ARFF parser, fed in chunks of any size. See tools/fuzz_coverage.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arff/arff.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t chunk = 1 + data[0];
    ramify::arff::Parser parser({data[1] & 1, (data[1] & 2) != 0});
    const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    try {
        for (std::size_t at = 0; at < text.size(); at += chunk) {
            parser.feed(text.substr(at, chunk));
        }
        parser.finish();
        parser.rows();
    } catch (const ramify::arff::ParseError&) {  // not valid ARFF
    }
    return 0;
}
