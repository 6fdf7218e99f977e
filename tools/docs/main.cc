// Prints docs/configuration.md or, given a manual page, that page with the OPTIONS section of the table.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "apps/kepler/config.h"
#include "tools/docs/configuration_page.h"
#include "tools/docs/man_page.h"

int main(int argc, char** argv) {
  using kepler::agent::kTable;
  std::string text;
  if (argc > 1) {
    std::ifstream in(argv[1]);
    const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    text = kepler::docs::WithOptions(page, kTable.keys);
  } else {
    const kepler::agent::Config defaults;
    text = kepler::docs::ConfigurationPage(kTable.Of(defaults));
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
