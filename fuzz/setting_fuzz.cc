// Small texts that people and clients write. The first byte says which: flags, a duration, an interval, an address, a
// whole number, a login.
#include <algorithm>
#include <string>
#include <vector>

#include "apps/kepler/config.h"
#include "base/duration.h"
#include "base/host_port.h"
#include "fuzz.h"
#include "http/server/password_checker.h"
#include "http/webconfig/web_config.h"
#include "settings/addresses.h"
#include "settings/draft.h"
#include "settings/flags.h"
#include "settings/yaml_scalar.h"

namespace {

void Flags(std::string_view text) {
  std::vector<std::string> strings;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    strings.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<const char*> arguments;
  for (const auto& string : strings) arguments.push_back(string.c_str());
  const auto flags = kepler::settings::ParseFlags(kepler::agent::kTable.keys, arguments);
  if (!flags && flags.error().message.empty()) std::abort();
  if (!flags) return;
  kepler::agent::Config config;
  kepler::settings::Draft draft(kepler::agent::kTable.Of(config), "");
  static_cast<void>(kepler::settings::ApplyFlags(draft, *flags));
}

void Duration(std::string_view text) {
  const auto value = kepler::ParseDuration(text);
  if (!value) return;
  const auto again = kepler::ParseDuration(kepler::FormatDuration(*value));
  if (!again || *again != *value) std::abort();
}

void Address(std::string_view text) {
  const auto address = kepler::SplitHostPort(text);
  if (!address) {
    if (address.error().message.empty()) std::abort();
    return;
  }
  // Both are parts of the text, and the colon is in neither.
  const char* const end = text.data() + text.size();
  if (address->port.data() + address->port.size() != end || address->port.contains(':')) std::abort();
  if (address->host.size() + address->port.size() + (address->bracketed ? 3 : 1) != text.size()) std::abort();
  const auto half = text.substr(text.size() / 2);
  if (kepler::settings::ListenConflict(text, half) != kepler::settings::ListenConflict(half, text)) std::abort();
}

/// What a file says for a number: what was read, written again, is the same.
void WholeNumber(std::string_view text) {
  int64_t number = 0;
  kepler::yaml::Value scalar{.kind = kepler::yaml::Value::Kind::kScalar};
  scalar.text = text;
  const auto plain = kepler::settings::ReadScalar(&number, scalar);
  if (!plain || plain->text == text) return;
  scalar.text = plain->text;
  const auto again = kepler::settings::ReadScalar(&number, scalar);
  if (!again || again->text != plain->text || again->cut) std::abort();
}

void Login(std::string_view text) {
  const auto login = kepler::http::server::ParseBasicAuth(text);
  if (login && login->user.contains(':')) std::abort();
  if (login && 4 * (login->user.size() + login->password.size()) > 3 * text.size()) std::abort();
}

}  // namespace

void Fuzz(std::string_view text) {
  if (text.empty()) return;
  constexpr void (*kParsers[])(std::string_view) = {Flags, Duration, Address, WholeNumber, Login};
  kParsers[static_cast<uint8_t>(text[0]) % std::size(kParsers)](text.substr(1));
}
