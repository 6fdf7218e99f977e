#include "apps/kepler/top_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "apps/kepler/rules.h"
#include "apps/kepler/top_client.h"
#include "apps/kepler/top_node.h"
#include "apps/kepler/top_settings.h"
#include "apps/kepler/top_source.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "settings/command_line.h"
#include "top/cpu_rates.h"
#include "top/layout.h"
#include "top/terminal/terminal.h"

namespace kepler::agent {
namespace {

constexpr std::chrono::milliseconds kRedraw{1000};  // updates the age of the data

int RefuseTop(const std::string& why) {
  std::fprintf(stderr, "kepler top: %s\n", EscapeControls(why).c_str());
  return EXIT_FAILURE;
}

top::Look LookOf(const TopSettings& config, top::Glyphs glyphs) {
  top::Look look{.glyphs = glyphs};
  if (config.price > 0) look.price = config.price;
  if (config.carbon > 0) look.carbon = config.carbon;
  return look;
}

top::View ViewOf(const TopSettings& config) {
  return {.now = {.level = config.level, .filter = config.filter}, .sort = config.sort};
}

/// Columns of stdout; no limit if it is not a terminal.
size_t OutputWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : SIZE_MAX;
}

/// Finds the agent of this machine, else measures in this process.
Result<std::unique_ptr<TopSource>> OpenSource(TopSettings settings, const BuildInfo& build) {
  if (!settings.url.empty()) {
    KEPLER_TRY(TopClient client, TopClient::Open(settings));
    return std::make_unique<TopClient>(std::move(client));
  }
  std::vector<const char*> arguments = {"kepler"};
  const std::string file = "--config.file=" + settings.config_file;
  if (!settings.config_file.empty()) arguments.push_back(file.c_str());
  auto parsed = ParseCommandLine(arguments, build, {}, Moment::kStart);
  if (parsed.action != settings::Action::kRun) return Fail(ErrorKind::kInvalid, settings::OneLine(parsed));
  std::string remark;
  if (!settings.local) {
    settings.url = UrlOfAgent(parsed.config.listen_addresses);
    KEPLER_TRY(TopClient client, TopClient::Open(settings));
    const auto answer = client.Get("/api/v1/snapshot?limit=1", {});
    if (answer || answer.error().kind != ErrorKind::kUnavailable) return std::make_unique<TopClient>(std::move(client));
    remark = fmt::format("no agent at {}, so this process measures", settings.url);
  }
  log::Configure(std::max(parsed.config.log_level, log::Level::kError), log::Format::kText, log::Stream::kStderr);
  return TopNode::Open(std::move(parsed.config), build, settings.interval, std::move(remark));
}

int PrintOnce(const TopSettings& config, const TopSource& source, top::Glyphs glyphs) {
  const top::View view = ViewOf(config);
  const auto refuse = [&](const Error& error) {
    const bool has_remedy = error.kind == ErrorKind::kInvalid;
    return RefuseTop(has_remedy ? error.message : fmt::format("{}; {}", error.message, source.Hint()));
  };
  if (const Status settled = source.Settle(); !settled) return refuse(settled.error());
  const auto text = source.Get(top::TargetOf(view, static_cast<size_t>(config.limit)), {});
  if (!text) return refuse(text.error());
  const auto readings = ReadingsOf(source, *text);
  if (!readings) return RefuseTop(readings.error().message);
  for (const std::string& remark : RemarksOf(source, *readings))
    std::fprintf(stderr, "kepler top: %s\n", remark.c_str());
  const settings::Outcome outcome{
      .text = config.json ? *text + "\n" : top::PlainText(view, *readings, OutputWidth(), LookOf(config, glyphs))};
  return settings::WriteOut(outcome, "kepler top");
}

/// Collects the state of the screen from the answers of the poller.
class Observer {
 public:
  [[nodiscard]] const top::Knowledge& known() const { return known_; }

  void Take(Result<TopAnswer> answer, const Clock& clock) {
    if (!answer) {
      if (known_.trouble.empty()) silent_since_ = fmt::format("{}Z", TimeOfDay(clock));
      known_.trouble = fmt::format("no answer since {}: {}", silent_since_, answer.error().message);
      return;
    }
    known_.trouble.clear();
    if (!known_.has_readings || known_.readings.time != answer->readings.time) changed_ = clock.Now();
    known_.readings = std::move(answer->readings);
    known_.remarks = std::move(answer->remarks);
    rates_.Fill(known_.readings);
    if (answer->history) known_.history = std::move(*answer->history);
    known_.has_readings = true;
  }
  void UpdateAge(const Clock& clock) {
    if (known_.has_readings) known_.age = std::chrono::floor<std::chrono::seconds>(clock.Now() - changed_);
  }

 private:
  static std::string TimeOfDay(const Clock& clock) {
    const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(clock.Wall()) -
                                     std::chrono::floor<std::chrono::days>(clock.Wall()));
    return fmt::format("{:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(), time.seconds().count());
  }

  top::Knowledge known_{};
  top::CpuRates rates_{};
  std::string silent_since_{};
  BootTime changed_{};
};

/// SIGINT, SIGTERM and SIGHUP as a descriptor, so that the terminal is restored after them.
UniqueFd StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(signalfd(-1, &set, SFD_CLOEXEC));
}

/// Waits for a key, an answer or a signal. Returns false if it is time to quit. A new size of the window ends the wait.
bool Wait(int answers, int signals) {
  std::array<pollfd, 3> fds = {{{STDIN_FILENO, POLLIN, 0}, {answers, POLLIN, 0}, {signals, POLLIN, 0}}};
  if (poll(fds.data(), fds.size(), static_cast<int>(kRedraw.count())) <= 0) return true;
  return (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0 && fds[2].revents == 0;
}

Status Watch(const TopSettings& config, std::unique_ptr<TopSource> source, top::terminal::Terminal& terminal,
             top::Glyphs glyphs) {
  const UniqueFd signals = StopSignals();
  if (!signals.valid()) return FailErrno("create", "a signalfd");
  KEPLER_TRY(const auto poller, TopPoller::Start(std::move(source), config.interval));
  const SystemClock clock;
  const top::Look look = LookOf(config, glyphs);
  top::View view = ViewOf(config);
  Observer observer;
  while (true) {
    const top::Size size = terminal.size();
    const size_t rows = top::VisibleRows(observer.known(), size);
    top::Follow(observer.known().readings, rows, view);
    poller->Ask(top::Target(view, rows), size.columns);
    observer.UpdateAge(clock);
    const top::Frame frame = top::Layout(view, observer.known(), size, look);
    terminal.Draw(frame);
    if (!Wait(poller->fd(), signals.get())) return {};
    for (top::Input input = terminal.Next(); input.key != top::Key::kNone; input = terminal.Next())
      if (top::Apply(input, observer.known().readings, frame.placement, view) == top::Effect::kQuit) return {};
    if (auto answer = poller->Take()) observer.Take(std::move(*answer), clock);
  }
}

}  // namespace

int TopCommand(const std::vector<const char*>& arguments, const BuildInfo& build) {
  const auto parsed = ParseTopSettings({arguments.begin() + 2, arguments.end()}, build);
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "kepler top");
  for (const std::string& warning : parsed.warnings)
    std::fprintf(stderr, "kepler top: %s\n", EscapeControls(warning).c_str());
  const TopSettings& config = parsed.config;
  std::signal(SIGPIPE, SIG_IGN);
  auto source = OpenSource(config, build);
  if (!source) return RefuseTop(source.error().message);
  const top::Glyphs glyphs = top::terminal::LocaleGlyphs();
  if (config.once || config.json) return PrintOnce(config, **source, glyphs);
  auto terminal = top::terminal::Terminal::Open();
  if (!terminal) {
    std::fprintf(stderr, "kepler top: %s; printing one table, as with --once\n",
                 EscapeControls(terminal.error().message).c_str());
    return PrintOnce(config, **source, glyphs);
  }
  log::SetLevel(log::Level::kOff);  // the screen has the terminal
  const Status watched = Watch(config, *std::move(source), **terminal, glyphs);
  terminal->reset();
  return watched ? EXIT_SUCCESS : RefuseTop(watched.error().message);
}

}  // namespace kepler::agent
