#pragma once
// From the command line to checked settings: flags, the YAML file, defaults. The first step of every program.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "settings/draft.h"
#include "settings/flags.h"

namespace kepler::settings {

/// Unless the action is kRun: print `text` (ends with a newline) and exit with `exit_code`.
struct Outcome {
  Action action = Action::kRun;
  std::vector<std::string> warnings = {};  // for the log; of --config.check they are in `text`
  std::string text = {};
  int exit_code = 0;
  bool to_stderr = false;
};

/// `outcome.text` on one line for a log; several mistakes have "; " between them.
[[nodiscard]] std::string OneLine(const Outcome& outcome);
/// The exit code. Not 0 where a full disk has cut the text.
[[nodiscard]] int WriteOut(const Outcome& outcome, std::string_view program);

/// What --help and --version say of a program.
struct Program {
  std::string_view name;  // where the command line has none
  std::string_view about;
  BuildInfo build;
};

/// Fills `values`, which are at their defaults. `rules` are the program's own, and what it completes: they see the
/// draft once everything is merged and the rules of the table are checked.
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
