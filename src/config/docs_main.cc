// Prints docs/configuration.md.
#include <cstdio>

#include "config/print.h"

int main() {
  const std::string text = kepler::config::ConfigurationMarkdown();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
