// Prints docs/configuration.md or, given a manual page, that page with the OPTIONS section of the table.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "config/man_page.h"
#include "config/print.h"

int main(int argc, char** argv) {
  std::string text;
  if (argc > 1) {
    std::ifstream in(argv[1]);
    const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    text = kepler::config::WithOptions(page);
  } else {
    text = kepler::config::ConfigurationMarkdown();
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
