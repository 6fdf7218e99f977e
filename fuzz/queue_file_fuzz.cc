// The header of a queued request in a file. What is read is written back byte for byte.
#include "export/push/queue_file.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  if (const auto header = kepler::push::ParseHeader(text))
    if (text.substr(0, header->size()) != kepler::push::WriteHeader(*header)) std::abort();
  if (const auto number = kepler::push::FileNumber(text))
    if (kepler::push::FileName(*number) != text) std::abort();
}
