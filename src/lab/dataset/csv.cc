#include "lab/dataset/csv.h"

namespace kepler::lab::dataset {

std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out += '"';
}

}  // namespace kepler::lab::dataset
