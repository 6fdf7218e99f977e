#pragma once
// From the command line to a checked configuration: flags, the YAML file, defaults. The agent's first step.
#include <string>
#include <vector>

#include "base/build_info.h"
#include "config/config.h"

namespace kepler::config {

enum class Action {
  kRun,      // start with `config`
  kCheck,    // --config.check, passed
  kPrint,    // --config.print
  kVersion,  // --version
  kHelp,     // --help
  kReject    // bad flags or configuration
};

/// Unless the action is kRun: print `text` (ends with a newline) and exit with `exit_code`.
struct Parsed {
  Action action = Action::kRun;
  Config config;
  std::vector<std::string> warnings;  // for the log; of --config.check they are in `text`
  std::string text;
  int exit_code = 0;
  bool to_stderr = false;
};

/// `parsed.text` on one line for a log; several mistakes have "; " between them.
[[nodiscard]] std::string OneLine(const Parsed& parsed);

/// Reads the files and directories that the configuration names, to check them; opens no meter. `hostname` stands in
/// for a node name that is not given.
[[nodiscard]] Parsed ParseCommandLine(int argc, const char* const* argv, const BuildInfo& build,
                                      const std::string& hostname);
/// With the host name of the system.
[[nodiscard]] Parsed ParseCommandLine(int argc, const char* const* argv, const BuildInfo& build);

}  // namespace kepler::config
