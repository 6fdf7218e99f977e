#pragma once
// For the tests of this folder: a file and arguments in, a configuration out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler/config.h"
#include "apps/kepler/rules.h"
#include "testing/fake_tree.h"

namespace kepler::agent {

using settings::Action;
using settings::Strings;
using Levels = settings::EnumSet<MetricsLevel>;
using Parsed = settings::Parsed<Config>;

/// Of a configuration of its own.
class ConfigDraft : public settings::Draft {
 public:
  explicit ConfigDraft(std::string file = "k.yaml") : Draft(kTable.Of(config), std::move(file)) {}
  /// Loads `yaml`.
  static std::unique_ptr<ConfigDraft> Of(const std::string& yaml) {
    auto draft = std::make_unique<ConfigDraft>();
    draft->LoadYaml(yaml);
    return draft;
  }
  void GiveByFile(std::string_view path, int line, std::vector<int> item_lines = {}) {
    origin(path) = {.from = settings::From::kFile, .line = line, .item_lines = std::move(item_lines)};
  }

  Config config;
};

/// A valid configuration on a machine of its own, for a test to break.
class Validation : public ::testing::Test {
 protected:
  Validation() {
    tree_.Write("proc/stat", "cpu  1\n");
    tree_.Write("sys/x", "x");
    draft_.config.host = {.sysfs = tree_.Path("sys"), .procfs = tree_.Path("proc")};
  }
  const std::vector<std::string>& Errors() {
    draft_.CheckTable();
    CheckRules(draft_, config_);
    return draft_.errors();
  }

  testing::FakeTree tree_;
  ConfigDraft draft_;
  Config& config_ = draft_.config;
};

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
    return ParseCommandLine(argv, BuildInfo{}, "the-host");
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

}  // namespace kepler::agent
