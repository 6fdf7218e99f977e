#pragma once
// Builds checked settings from flags, the YAML file and defaults. The first step of every program.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "settings/draft.h"
#include "settings/flags.h"

namespace kepler::settings {

/// Result of the command line. Unless the action is kRun, print `text` (ends with a newline) and exit with `exit_code`.
struct Outcome {
  Action action = Action::kRun;
  std::vector<std::string> warnings = {};  // for the log; warnings of --config.check are in `text`
  std::string text = {};
  int exit_code = 0;
  bool to_stderr = false;
  std::map<std::string, std::string, std::less<>> places = {};  // of each given key: "FILE:LINE: key", or "--flag"
};

/// Returns `outcome.text` on one line for a log; mistakes are separated by "; ".
[[nodiscard]] std::string OneLine(const Outcome& outcome);
/// Returns `message`, an error about a setting that was found after the settings were loaded. If it begins with the
/// path of a given key and ": ", the place of the key is in front of the reason, as in errors of loading.
[[nodiscard]] std::string WithPlace(const Outcome& outcome, std::string message);
/// Writes the text and returns the exit code. The exit code is not 0 if a full disk has cut the text.
[[nodiscard]] int WriteOut(const Outcome& outcome, std::string_view program);

/// Texts of a program's --help and --version.
struct Program {
  std::string_view name;  // used if the command line has no program name
  std::string_view about;
  BuildInfo build;
  bool has_config_file = true;  // false: there are no flags --config.*
};

/// Fills `values`, which must be at their defaults. `rules` checks and completes the program's own settings. It runs
/// after the merge and after the checks of the table.
[[nodiscard]] Outcome ParseCommandLine(std::span<const char* const> argv, const Program& program, const Values& values,
                                       const std::function<void(Draft&)>& rules);

template <class S>
struct Parsed : Outcome {
  S config = {};
};

template <class S>
[[nodiscard]] Parsed<S> ParseCommandLine(std::span<const char* const> argv, const Program& program,
                                         const TableOf<S>& table, const std::function<void(Draft&, S&)>& rules) {
  Parsed<S> parsed;
  static_cast<Outcome&>(parsed) =
      ParseCommandLine(argv, program, table.Of(parsed.config), [&](Draft& draft) { rules(draft, parsed.config); });
  return parsed;
}

}  // namespace kepler::settings
