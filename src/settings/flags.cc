#include "settings/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

constexpr size_t kConfigFlags = 3;  // the first ones
constexpr std::array kCommandFlags = {
    CommandFlag{"config.file", "config", "FILE", "YAML configuration file; flags override it"},
    CommandFlag{"config.check", "", "", "Check the configuration, unknown keys included, and exit with 0 or 1",
                Action::kCheck},
    CommandFlag{"config.print", "", "", "Print the effective configuration as YAML and exit", Action::kPrint},
    CommandFlag{"version", "", "", "Print the version and exit", Action::kVersion},
    CommandFlag{"help", "help-long", "", "Print this text and exit, as -h", Action::kHelp},
};

/// A name on the command line and the flag or key for it.
struct Target {
  const CommandFlag* command = nullptr;
  const Key* key = nullptr;
  bool negated = false;

  [[nodiscard]] bool TakesValue() const { return key != nullptr ? !IsBool(*key) : !command->value.empty(); }
};

std::optional<Target> Find(std::span<const Key> keys, std::span<const CommandFlag> commands, std::string_view name) {
  for (const CommandFlag& flag : commands)
    if (name == flag.name || (name == flag.alias && !name.empty())) return Target{.command = &flag};
  const std::string_view positive = name.starts_with("no-") ? name.substr(3) : name;
  for (const Key& key : keys) {
    if (key.flag.empty()) continue;
    if (name == key.flag || (name == key.details.alias && !name.empty())) return Target{.key = &key};
    if (positive != name && positive == key.flag && IsBool(key)) return Target{.key = &key, .negated = true};
  }
  return std::nullopt;
}

std::string NearestFlag(std::span<const Key> keys, std::span<const CommandFlag> commands, std::string_view name) {
  Strings names;
  for (const CommandFlag& flag : commands) names.emplace_back(flag.name);
  for (const Key& key : keys) {
    if (key.flag.empty()) continue;
    names.emplace_back(key.flag);
    if (IsBool(key)) names.push_back(fmt::format("no-{}", key.flag));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(NearestName(name, views));
}

/// The value of a boolean flag, which may have no text.
Result<bool> BoolOf(std::string_view name, bool negated, const std::optional<std::string>& value) {
  if (negated && value) return Bad(fmt::format("flag '--{}' takes no value", name));
  const auto given = value ? ParseBool(*value) : true;
  if (!given)
    return Bad(
        fmt::format("flag '--{}' must be true or false, not '{}'", name, ShowUnlessSecret(*value, value->size())));
  return *given != negated;
}

/// An argument that looks like a flag is not the value of the flag before it, except a negative number.
bool LooksLikeFlag(std::string_view argument) {
  const bool is_number = argument.size() > 1 && argument[0] == '-' && argument[1] >= '0' && argument[1] <= '9';
  return argument.size() > 1 && argument.starts_with('-') && !is_number;
}

std::unexpected<Error> MissingValue(std::string_view name) {
  return Bad(fmt::format("expected argument for flag '--{}'", name));
}

class FlagParser {
 public:
  FlagParser(std::span<const Key> keys, std::span<const char* const> arguments, std::span<const CommandFlag> commands)
      : keys_(keys), commands_(commands), rest_(arguments) {}

  Result<Flags> Parse() {
    while (!rest_.empty() && flags_.action != Action::kHelp) {
      const std::string_view argument = rest_.front();
      rest_ = rest_.subspan(1);
      if (LooksSecret(argument.substr(0, argument.find('=')))) return Bad("unexpected argument (not shown)");
      if (only_arguments_) {
        KEPLER_CHECK_OK(TakeArgument(argument));
      } else if (argument == "--") {
        only_arguments_ = true;
      } else if (argument == "-h") {
        flags_.action = Action::kHelp;
      } else if (argument.size() > 2 && argument.starts_with("--")) {
        KEPLER_CHECK_OK(ParseLong(argument.substr(2)));
      } else if (argument.size() > 1 && argument.starts_with('-')) {
        return Bad(fmt::format("unknown short flag '{}'", argument));
      } else {
        KEPLER_CHECK_OK(TakeArgument(argument));
      }
    }
    return std::move(flags_);
  }

 private:
  /// The value of the first key that accepts an argument and has no value yet.
  Status TakeArgument(std::string_view argument) {
    const auto free = std::ranges::find_if(keys_, [this](const Key& key) {
      return key.details.argument && std::ranges::find(flags_.given, &key, &GivenFlag::key) == flags_.given.end();
    });
    if (free == keys_.end()) return Bad(fmt::format("unexpected {}", argument));
    return Take({.key = &*free}, free->flag, std::string(argument));
  }

  Status ParseLong(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string_view::npos) value = text.substr(equals + 1);
    const auto target = Find(keys_, commands_, name);
    if (!target) {
      const std::string nearest = NearestFlag(keys_, commands_, name);
      return Bad(fmt::format("unknown long flag '--{}'{}", name,
                             nearest.empty() ? "" : fmt::format("; did you mean --{}?", nearest)));
    }
    if (target->TakesValue() && !value) {
      KEPLER_TRY(value, TakeValue(name));
    }
    return target->key != nullptr ? Take(*target, name, std::move(value))
                                  : TakeCommand(*target->command, name, std::move(value));
  }

  /// Takes the next argument as the value.
  Result<std::string> TakeValue(std::string_view name) {
    if (!rest_.empty() && std::string_view(rest_.front()) == "--") {  // the value may follow "--", as in kingpin
      only_arguments_ = true;
      rest_ = rest_.subspan(1);
    }
    if (rest_.empty() || (LooksLikeFlag(rest_.front()) && !only_arguments_)) return MissingValue(name);
    const std::string_view next = rest_.front();
    rest_ = rest_.subspan(1);
    return std::string(next);
  }

  Status Take(const Target& target, std::string_view name, std::optional<std::string> value) {
    const Key& key = *target.key;
    if (IsBool(key)) {
      KEPLER_TRY(const bool given, BoolOf(name, target.negated, value));
      value = given ? "true" : "false";
    }
    const auto earlier = std::ranges::find(flags_.given, target.key, &GivenFlag::key);
    if (earlier == flags_.given.end()) {
      flags_.given.push_back({target.key, fmt::format("--{}", name), {std::move(*value)}});
      return {};
    }
    if (!IsList(key)) return Bad(fmt::format("flag '{}' cannot be repeated", key.flag));
    earlier->values.push_back(std::move(*value));
    return {};
  }

  Status TakeCommand(const CommandFlag& flag, std::string_view name, std::optional<std::string> value) {
    if (flag.value.empty() && value) return Bad(fmt::format("flag '--{}' takes no value", name));
    if (!flag.value.empty()) {
      if (has_file_) return Bad(fmt::format("flag '{}' cannot be repeated", flag.name));
      if (const auto why = WhyNoPath(*value); !why.empty()) return Bad(fmt::format("--{}: {}", name, why));
      has_file_ = true;
      flags_.config_file = std::move(*value);
      return {};
    }
    flags_.action = std::max(flags_.action, flag.action);
    return {};
  }

  std::span<const Key> keys_;
  std::span<const CommandFlag> commands_;
  std::span<const char* const> rest_;
  Flags flags_;
  bool has_file_ = false;
  bool only_arguments_ = false;  // behind "--"
};

}  // namespace

std::span<const CommandFlag> CommandFlags(bool with_config) {
  return std::span<const CommandFlag>(kCommandFlags).subspan(with_config ? 0 : kConfigFlags);
}

Result<Flags> ParseFlags(std::span<const Key> keys, std::span<const char* const> arguments,
                         std::span<const CommandFlag> commands) {
  return FlagParser(keys, arguments, commands).Parse();
}

Result<bool> TakeBool(std::vector<const char*>& arguments, std::string_view name) {
  const std::string positive = fmt::format("--{}", name), negative = fmt::format("--no-{}", name);
  bool value = false;
  for (auto at = arguments.begin(); at != arguments.end();) {
    const std::string_view argument = *at;
    const std::string_view flag = argument.substr(0, argument.find('='));
    if (flag != positive && flag != negative) {
      ++at;
      continue;
    }
    std::optional<std::string> text;
    if (flag.size() < argument.size()) text = argument.substr(flag.size() + 1);
    KEPLER_TRY(value, BoolOf(flag.substr(2), flag == negative, text));
    at = arguments.erase(at);
  }
  return value;
}

Result<std::string> TakeText(std::vector<const char*>& arguments, std::string_view name) {
  const std::string flag = fmt::format("--{}", name), with_value = flag + "=";
  std::string text;
  for (auto at = arguments.begin(); at != arguments.end();) {
    const std::string_view argument = *at;
    if (argument.starts_with(with_value)) {
      text = argument.substr(with_value.size());
      at = arguments.erase(at);
    } else if (argument == flag) {
      const auto value = std::next(at);
      if (value == arguments.end() || LooksLikeFlag(*value)) return MissingValue(name);
      text = *value;
      at = arguments.erase(at, std::next(value));
    } else {
      ++at;
    }
  }
  return text;
}

Status ApplyFlags(Draft& draft, const Flags& flags) {
  for (const auto& [key, spelled, texts] : flags.given) {
    const Field field = draft.field(*key);
    Mistakes mistakes;
    if (IsList(*key))
      mistakes = SetTexts(*key, field, texts);
    else if (const Status set = SetText(*key, field, texts.front()); !set)
      mistakes.push_back({set.error().message});
    Origin& origin = draft.origin(*key) = {.from = From::kFlag, .flag = spelled};
    if (mistakes.empty()) continue;
    // An unknown choice is reported together with the mistakes in the file.
    if (!std::holds_alternative<uint8_t*>(field)) return Bad(fmt::format("{}: {}", spelled, mistakes[0].reason));
    origin.unknown_choices = std::move(mistakes);
  }
  return {};
}

}  // namespace kepler::settings
