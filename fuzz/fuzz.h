#pragma once
// Entry of a fuzz target: it defines Fuzz().
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Parses `text`, and stops the program if the parser breaks a promise.
void Fuzz(std::string_view text);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
