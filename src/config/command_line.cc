#include "config/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string_view>

#include "base/parse.h"
#include "base/result.h"
#include "base/small_file.h"
#include "base/text.h"
#include "config/draft.h"
#include "config/flags.h"
#include "config/load_yaml.h"
#include "config/print.h"
#include "config/validate.h"

namespace kepler::config {
namespace {

std::string ProgramName(int argc, const char* const* argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "kepler" : std::string(name);
}

Parsed RejectFlags(const std::string& program, const std::string& message) {
  Parsed parsed;
  parsed.action = Action::kReject;
  parsed.text = EscapeControls(fmt::format("{}: error: {}, try --help", program, message)) + "\n";
  parsed.exit_code = 1;
  parsed.to_stderr = true;
  return parsed;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += EscapeControls(line) + "\n";
  return text;
}

/// The file's part of the draft.
void LoadFile(Draft& draft) {
  if (draft.file().empty()) return;
  const Result<std::string> text = ReadSmallFile(draft.file());
  if (text)
    LoadYaml(draft, *text);
  else
    draft.RejectLine(0, {}, text.error().message);
}

Parsed Finish(const Draft& draft, Request request) {
  Parsed parsed;
  parsed.config = draft.config;
  parsed.warnings = draft.warnings();
  std::vector<std::string> errors = draft.errors();
  std::vector<std::string>& unknown = request == Request::kCheck ? errors : parsed.warnings;
  unknown.insert(unknown.end(), draft.unknown().begin(), draft.unknown().end());
  if (!errors.empty()) {
    parsed.action = Action::kReject;
    parsed.text = Lines(errors);
    parsed.exit_code = 1;
    parsed.to_stderr = true;
  } else if (request == Request::kCheck) {
    parsed.action = Action::kCheck;
    for (const std::string& warning : parsed.warnings) parsed.text += "warning: " + EscapeControls(warning) + "\n";
    for (const std::string& missing : MissingFeatures(draft.config))
      parsed.text += "warning: not in this version: " + EscapeControls(missing) + "\n";
    parsed.text += fmt::format("{}: configuration is valid\n", draft.file().empty() ? "flags" : draft.file());
  } else if (request == Request::kPrint) {
    parsed.action = Action::kPrint;
    parsed.text = PrintConfig(draft.config, true);
  }
  return parsed;
}

std::string SystemHostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace

std::string OneLine(const Parsed& parsed) {
  std::string out;
  Splitter lines(parsed.text, '\n');
  while (const auto line = lines.Next())
    if (!line->empty()) out += fmt::format("{}{}", out.empty() ? "" : "; ", *line);
  return out;
}

Parsed ParseCommandLine(int argc, const char* const* argv, const BuildInfo& build, const std::string& hostname) {
  const std::string program = ProgramName(argc, argv);
  const std::span arguments(argv, static_cast<size_t>(argc));
  const Result<Flags> flags = ParseFlags(arguments.subspan(argc > 0 ? 1 : 0));
  if (!flags) return RejectFlags(program, flags.error().message);
  Parsed parsed;
  if (flags->request == Request::kHelp) {
    parsed.action = Action::kHelp;
    parsed.text = HelpText(program);
    parsed.to_stderr = true;
    return parsed;
  }
  if (flags->request == Request::kVersion) {
    parsed.action = Action::kVersion;
    parsed.text = VersionText(program, build);
    return parsed;
  }
  Draft draft(flags->config_file);
  LoadFile(draft);
  if (const Status applied = ApplyFlags(draft, *flags); !applied) return RejectFlags(program, applied.error().message);
  TrimTexts(draft);
  Validate(draft);
  if (draft.errors().empty()) Complete(draft, hostname);
  return Finish(draft, flags->request);
}

Parsed ParseCommandLine(int argc, const char* const* argv, const BuildInfo& build) {
  return ParseCommandLine(argc, argv, build, SystemHostname());
}

}  // namespace kepler::config
