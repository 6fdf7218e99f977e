// CSV of samples: whatever the text, cells lie inside it and each row has one of each column.
#include <cmath>
#include <string>

#include "fuzz.h"
#include "lab/training/csv_table.h"

void Fuzz(std::string_view input) {
  const auto table = kepler::lab::training::Table::ReadCsv(std::string(input));
  if (!table) {
    if (table.error().message.empty()) std::abort();
    return;
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
  if (table->rows() == 0 || bytes > input.size()) std::abort();
}
