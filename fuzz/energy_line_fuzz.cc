// Lines of JSON: any bytes give a line or an error; what is read can be added up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/parse.h"
#include "report/energy_book.h"
#include "report/energy_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::report;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  EnergyBook book({.by = By::kPod});
  LineReader reader;
  kepler::Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    const auto read = reader.Read(*line);
    if (!read && read.error().message.empty()) std::abort();
    if (read) book.Add(**read);
  }
  const auto report = book.Close();
  if (!report && report.error().message.empty()) std::abort();
  return 0;
}
