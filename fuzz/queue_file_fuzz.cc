// The header of a queued request in a file. What is read is written back byte for byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "export/push/queue_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto header = kepler::push::ParseHeader(text))
    if (text.substr(0, header->size()) != kepler::push::WriteHeader(*header)) std::abort();
  if (const auto number = kepler::push::FileNumber(text))
    if (kepler::push::FileName(*number) != text) std::abort();
  return 0;
}
