#pragma once
// The command line in kingpin's syntax, as upstream's: --flag=value, --flag value, --[no-]bool, repeated lists.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/draft.h"

namespace kepler::settings {

/// What a program is to do, in rising order of precedence where several are asked for.
enum class Action {
  kRun,      // start
  kPrint,    // --config.print
  kCheck,    // --config.check, passed
  kVersion,  // --version
  kHelp,     // --help
  kReject    // bad flags or settings
};

/// One flag of the table as it was given.
struct GivenFlag {
  const Key* key = nullptr;
  std::string spelled;  // "--web.config.file"
  Strings values;       // more than one for lists only; "true" or "false" for booleans
};

struct Flags {
  Action action = Action::kRun;
  std::string config_file;
  std::vector<GivenFlag> given;
};

/// A flag that belongs to no key.
struct CommandFlag {
  std::string_view name;
  std::string_view alias;
  std::string_view value;  // name of its value in the help; empty: takes none
  std::string_view help;
  Action action = Action::kRun;  // what it asks for
};
[[nodiscard]] std::span<const CommandFlag> CommandFlags();

/// `arguments` without the program's name. Stops at the first error, and at --help.
[[nodiscard]] Result<Flags> ParseFlags(std::span<const Key> keys, std::span<const char* const> arguments);

/// Puts the given flags over the draft's values. The error names the flag.
[[nodiscard]] Status ApplyFlags(Draft& draft, const Flags& flags);

}  // namespace kepler::settings
