// A second program: it greets. It proves that settings, daemon and http serve more than the agent, and how little a
// program of its own needs: a struct, a table, and what it does.
#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "daemon/descriptor_budget.h"
#include "daemon/run.h"
#include "http/server/server.h"
#include "settings/addresses.h"
#include "settings/command_line.h"

namespace {

using namespace kepler;
using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

enum class Tone : uint8_t { kCalm, kLoud };

struct Guest {
  std::string name;
  std::map<std::string, int> gifts;
};
struct Config {
  log::Level log_level = log::Level::kInfo;
  std::vector<std::string> listen = {"127.0.0.1:28290"};
  Tone tone = Tone::kCalm;
  std::vector<Guest> guests;
};

constexpr std::string_view kLogLevels[] = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::string_view kTones[] = {"calm"sv, "loud"sv};

constexpr Key kGuestKeys[] = {
    Key("name", "", "Who is greeted", kAt<&Guest::name>, {.required = true}),
    Key("gifts", "", "What they bring: how many", kAt<&Guest::gifts>, {.min = 1, .max = 99}),
};
constexpr settings::TableOf<Guest> kGuests(kGuestKeys);
constexpr Key kKeys[] = {
    Key("log.level", "log.level", "Log messages of this level and above", kAt<&Config::log_level>,
        {.choices = kLogLevels}),
    Key("web.listen", "web.listen", "Addresses to serve on", kAt<&Config::listen>),
    Key("tone", "tone", "How guests are greeted", kAt<&Config::tone>, {.choices = kTones}),
    Key("guests", "", "Who is greeted, with what they bring", kAt<&Config::guests>, {.items = &kGuests}),
};
constexpr settings::TableOf<Config> kTable(kKeys);

using Parse = std::function<settings::Parsed<Config>()>;

class Greeter final : public daemon::Service {
 public:
  static Result<std::unique_ptr<daemon::Service>> Start(Config config, Parse parse) {
    std::unique_ptr<Greeter> greeter(new Greeter(std::move(config), std::move(parse)));
    KEPLER_TRY(greeter->server_, http::server::Server::Create({.listen_addresses = greeter->config_.listen}));
    greeter->server_->Handle(
        "/greetings", [self = greeter.get()](const http::server::Request&, const http::server::Responder& answer) {
          answer({.body = std::make_shared<const std::string>(self->Greetings())});
        });
    KEPLER_TRY(const uint64_t sockets, daemon::ClientDescriptors());
    greeter->server_->LimitSockets(sockets);
    KEPLER_CHECK_OK(greeter->server_->Start());
    return greeter;
  }

  void Reload() override {
    auto fresh = parse_();
    if (fresh.action != settings::Action::kRun)
      return log::Error("failed to load the new configuration", {{"err", settings::OneLine(fresh)}});
    const std::scoped_lock lock(mutex_);
    config_ = std::move(fresh.config);
    log::Info("reloaded");
  }

 private:
  Greeter(Config config, Parse parse) : parse_(std::move(parse)), config_(std::move(config)) {}

  std::string Greetings() {
    const std::scoped_lock lock(mutex_);
    std::string out;
    for (const Guest& guest : config_.guests) {
      out += fmt::format("hello {}{}\n", guest.name, config_.tone == Tone::kLoud ? "!" : "");
      for (const auto& [gift, count] : guest.gifts) out += fmt::format("  thanks for {} {}\n", count, gift);
    }
    return out;
  }

  const Parse parse_;
  std::mutex mutex_;
  Config config_;  // under mutex_
  std::unique_ptr<http::server::Server> server_;
};

}  // namespace

int main(int argc, char** argv) {
  daemon::PrepareProcess();
  const settings::Program program{.name = "greeter", .about = "Greets who is expected.", .build = daemon::ThisBuild()};
  const Parse parse = [&] {
    return settings::ParseCommandLine<Config>({argv, static_cast<size_t>(argc)}, program, kTable,
                                              [](settings::Draft& draft, const Config& config) {
                                                settings::CheckListenAddresses(draft, "web.listen", config.listen);
                                              });
  };
  const auto parsed = parse();
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "greeter");
  log::Configure(parsed.config.log_level, log::Format::kText, log::Stream::kStdout);
  return daemon::Run("greeter", program.build.version, [&] { return Greeter::Start(parsed.config, parse); });
}
