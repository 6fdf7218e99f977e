#pragma once
// The command line in kingpin's syntax, as in upstream: --flag=value, --flag value, --[no-]bool, repeated lists.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/draft.h"

namespace kepler::settings {

/// Action of a program. If several are requested, the last of these takes precedence.
enum class Action {
  kRun,      // start the program
  kPrint,    // --config.print
  kCheck,    // --config.check, passed
  kVersion,  // --version
  kHelp,     // --help
  kReject    // bad flags or settings
};

/// One flag of the table, as given on the command line.
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

/// A flag without a key in the table.
struct CommandFlag {
  std::string_view name;
  std::string_view alias;
  std::string_view value;  // placeholder of its value in the help; empty: the flag has no value
  std::string_view help;
  Action action = Action::kRun;  // action that the flag requests
};
/// `with_config`: those of a configuration file too.
[[nodiscard]] std::span<const CommandFlag> CommandFlags(bool with_config = true);

/// Parses `arguments`, which exclude the program's name. Stops at the first error, and at --help. `commands` are flags
/// without a key.
[[nodiscard]] Result<Flags> ParseFlags(std::span<const Key> keys, std::span<const char* const> arguments,
                                       std::span<const CommandFlag> commands = CommandFlags());

/// Removes every --NAME, --NAME=VALUE and --no-NAME from `arguments`, for a program whose table lacks the flag. Returns
/// the last value, or false if the flag is not given.
[[nodiscard]] Result<bool> TakeBool(std::vector<const char*>& arguments, std::string_view name);
/// Removes every --NAME=TEXT and --NAME TEXT, as TakeBool(). Returns the last text, or "" if the flag is not given.
[[nodiscard]] Result<std::string> TakeText(std::vector<const char*>& arguments, std::string_view name);

/// Applies the given flags to the draft's values. The error contains the flag.
[[nodiscard]] Status ApplyFlags(Draft& draft, const Flags& flags);

}  // namespace kepler::settings
