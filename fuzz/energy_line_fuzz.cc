// Lines of JSON: any bytes give a line or an error; what is read can be added up.
#include "base/parse.h"
#include "fuzz.h"
#include "report/energy_book.h"
#include "report/energy_line.h"

void Fuzz(std::string_view text) {
  using namespace kepler::report;
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
}
