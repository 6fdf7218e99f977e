#include "http/server/request.h"

#include "base/text.h"

namespace kepler::http {

std::string Headers::Get(std::string_view name) const {
  const std::string wanted = ToLowerAscii(name);
  std::string all;
  bool found = false;
  for (const auto& [line, value] : lines_) {
    if (line.size() != wanted.size() || ToLowerAscii(line) != wanted) continue;
    if (std::exchange(found, true)) all += ", ";
    all += value;
  }
  return all;
}

}  // namespace kepler::http
