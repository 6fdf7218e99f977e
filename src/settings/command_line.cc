#include "settings/command_line.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "settings/print.h"

namespace kepler::settings {
namespace {

Outcome Rejected(std::string text) {
  return {.action = Action::kReject, .text = std::move(text), .exit_code = EXIT_FAILURE, .to_stderr = true};
}

Outcome RejectFlags(std::string_view program, std::string_view message) {
  const std::string_view end = message.ends_with('?') ? " Try --help" : ", try --help";
  return Rejected(EscapeControls(fmt::format("{}: error: {}{}", program, message, end)) + "\n");
}

std::string Lines(const Strings& lines, std::string_view before = {}) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", before, EscapeControls(line));
  return text;
}

std::string VersionText(std::string_view program, const BuildInfo& build) {
  return fmt::format("{}, version {} (branch: {}, revision: {})\n  compiler: {}\n  platform: linux/{}\n", program,
                     build.version, build.branch, build.revision, build.compiler, build.arch);
}

/// Loads the file into the draft.
void LoadFile(Draft& draft) {
  if (draft.file().empty()) return;
  if (const Result<std::string> text = ReadSmallFile(draft.file()))
    draft.LoadYaml(*text);
  else
    draft.RejectLine(0, {}, text.error().message);
}

std::map<std::string, std::string, std::less<>> PlacesOf(const Draft& draft) {
  std::map<std::string, std::string, std::less<>> places;
  for (const Key& key : draft.keys())
    if (std::string place = draft.Where(key); place != key.path) places.emplace(key.path, std::move(place));
  return places;
}

/// `before`: of each line of an error.
Outcome Finish(const Draft& draft, Action action, std::string_view before) {
  Strings errors = draft.errors();
  Strings warnings = draft.warnings();
  Strings& unknown = action == Action::kCheck ? errors : warnings;
  unknown.insert(unknown.end(), draft.unknown().begin(), draft.unknown().end());
  if (!errors.empty()) return Rejected(Lines(errors, before));
  if (action == Action::kPrint) return {.action = action, .text = Print(draft.values(), true)};
  if (action != Action::kCheck) return {.warnings = std::move(warnings), .places = PlacesOf(draft)};
  return {.action = action,
          .text = fmt::format("{}{}: configuration is valid\n", Lines(warnings, "warning: "),
                              draft.file().empty() ? "flags" : draft.file()),
          .places = PlacesOf(draft)};
}

}  // namespace

std::string OneLine(const Outcome& outcome) {
  std::string out;
  Splitter lines(outcome.text, '\n');
  while (const auto line = lines.Next())
    if (!line->empty()) out += fmt::format("{}{}", out.empty() ? "" : "; ", *line);
  return out;
}

std::string WithPlace(const Outcome& outcome, std::string message) {
  const size_t end = message.find(": ");
  if (end == std::string::npos) return message;
  if (const auto place = outcome.places.find(std::string_view(message).substr(0, end)); place != outcome.places.end())
    message.replace(0, end, place->second);
  return message;
}

int WriteOut(const Outcome& outcome, std::string_view program) {
  FILE* out = outcome.to_stderr ? stderr : stdout;
  if (std::fputs(outcome.text.c_str(), out) >= 0 && std::fflush(out) == 0) return outcome.exit_code;
  const std::string why = fmt::format("{}: cannot write to {}: {}\n", program, outcome.to_stderr ? "stderr" : "stdout",
                                      std::strerror(errno));
  std::fputs(why.c_str(), stderr);
  return EXIT_FAILURE;
}

Outcome ParseCommandLine(std::span<const char* const> argv, const Program& program, const Values& values,
                         const std::function<void(Draft&)>& rules) {
  const std::string_view path = argv.empty() ? "" : argv.front();
  const std::string_view called = path.substr(path.rfind('/') + 1);
  const std::string_view name = called.empty() ? program.name : called;
  const auto commands = CommandFlags(program.has_config_file);
  const Result<Flags> flags = ParseFlags(values.keys, argv.subspan(argv.empty() ? 0 : 1), commands);
  if (!flags) return RejectFlags(name, flags.error().message);
  if (flags->action == Action::kHelp)
    return {.action = Action::kHelp, .text = HelpText(values.keys, name, program.about, commands)};
  if (flags->action == Action::kVersion) return {.action = Action::kVersion, .text = VersionText(name, program.build)};
  Draft draft(values, flags->config_file);
  LoadFile(draft);
  if (const Status applied = ApplyFlags(draft, *flags); !applied) return RejectFlags(name, applied.error().message);
  draft.CheckTable();
  rules(draft);
  // With a file, errors begin with its name and line.
  return Finish(draft, flags->action, program.has_config_file ? "" : fmt::format("{}: error: ", name));
}

}  // namespace kepler::settings
