#pragma once
// For the tests of this folder: a file and arguments in, a Parsed out.
#include <string>
#include <string_view>
#include <vector>

#include "config/command_line.h"
#include "testing/fake_tree.h"

namespace kepler::config {

/// A temporary directory with a filled proc/ and sys/, and a configuration file k.yaml.
class Fixture {
 public:
  Fixture() {
    tree.Write("proc/stat", "cpu 1\n");
    tree.Write("sys/x", "1\n");
  }

  /// Parses `flags` alone.
  [[nodiscard]] Parsed Flags(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), "/usr/bin/kepler");
    std::vector<const char*> argv;
    argv.reserve(flags.size());
    for (const std::string& flag : flags) argv.push_back(flag.c_str());
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), BuildInfo{}, "the-host");
  }
  /// Parses `yaml` as k.yaml, and `flags`.
  [[nodiscard]] Parsed Yaml(std::string_view yaml, std::vector<std::string> flags = {}) {
    tree.Write("k.yaml", yaml);
    flags.insert(flags.begin(), "--config.file=" + file());
    return Flags(std::move(flags));
  }
  [[nodiscard]] std::string file() const { return tree.Path("k.yaml"); }
  /// `text` with the path of k.yaml as FILE.
  [[nodiscard]] std::string Short(std::string text) const {
    for (size_t at = text.find(file()); at != std::string::npos; at = text.find(file()))
      text.replace(at, file().size(), "FILE");
    return text;
  }

  testing::FakeTree tree;
};

}  // namespace kepler::config
