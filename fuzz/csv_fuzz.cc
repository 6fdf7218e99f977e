// CSV of samples: whatever the text, cells lie inside it and each row has one of each column.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lab/training/csv_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto table = kepler::lab::training::Table::ReadCsv(std::string(reinterpret_cast<const char*>(data), size));
  if (!table) {
    if (table.error().message.empty()) std::abort();
    return 0;
  }
  size_t bytes = 0;
  for (size_t column = 0; column < table->names().size(); ++column) {
    for (const auto text : table->Texts(column)) bytes += text.size();
    if (const auto numbers = table->Numbers(column)) {
      if (numbers->size() != table->rows()) std::abort();
      for (const double number : *numbers)
        if (!std::isfinite(number)) std::abort();
    }
    if (const auto found = table->Find(table->names()[column]); found && !found->has_value()) std::abort();
  }
  if (table->rows() == 0 || bytes > size) std::abort();
  return 0;
}
