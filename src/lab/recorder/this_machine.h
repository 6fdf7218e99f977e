#pragma once
// The machine that this program runs on, as Collect() wants it: loads of stress-ng, and the agent that measures them.
#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/signals.h"
#include "http/retrying/retrying_server.h"
#include "lab/dataset/schedule.h"
#include "lab/recorder/collection.h"

namespace kepler::lab::recorder {

/// The path of stress-ng. kNotFound, with the name of its package, if it is not in PATH.
[[nodiscard]] Result<std::string> FindStressNg();
/// The names of the stressors that `program` knows.
[[nodiscard]] Result<std::set<std::string, std::less<>>> ListStressors(const std::string& program);

/// stress-ng as a child: it and all that it starts end with this object, and with this process.
class Stress {
 public:
  /// It ends by itself after `seconds`, should nobody be there any more to end it.
  [[nodiscard]] static Result<Stress> Start(const std::string& program, const std::string& stressor, unsigned instances,
                                            unsigned seconds);
  Stress(Stress&& other) noexcept;
  Stress& operator=(Stress&&) = delete;
  ~Stress();

  [[nodiscard]] bool IsRunning();
  /// "exit code 2", "signal 9"; empty while it runs.
  [[nodiscard]] std::string Ending() const;

 private:
  explicit Stress(pid_t leader) : leader_(leader) {}

  pid_t leader_;                       // of its process group; 0: of nobody
  std::optional<std::string> ending_;  // it is reaped with this object: its group keeps its number until then
};

using Sayer = std::function<void(std::string_view line)>;

/// Leaves out the phases whose stressor stress-ng does not know, which is said; the path of stress-ng, or nothing where
/// the phases need none. kInvalid where no load is left, kNotFound where stress-ng is not installed.
[[nodiscard]] Result<std::string> PrepareStressNg(std::vector<dataset::Phase>& phases, const Sayer& say);

/// While it lives, SIGINT and SIGTERM end waiting; later ones end the process, whatever it writes to. One thread: the
/// main one.
class ThisMachine final : public Bench {
 public:
  /// `agent` is asked for its page of metrics, which the prefix names. No load lasts for more than `longest` seconds.
  ThisMachine(http::retrying::Server agent, std::string stress_ng, double longest, Sayer say);
  ThisMachine(const ThisMachine&) = delete;
  ThisMachine& operator=(const ThisMachine&) = delete;
  ~ThisMachine() override;

  double Now() override;
  bool WaitUntil(double time) override;
  Status StartLoad(const dataset::Phase& phase) override;
  Status CheckLoad() override;
  void StopLoad() override { load_.reset(); }
  Result<std::string> Scrape() override;
  void Say(std::string_view text) override { say_(text); }

 private:
  daemon::Signals signals_;
  SystemClock clock_;
  http::retrying::Server agent_;
  const std::string stress_ng_;
  const double longest_;
  const Sayer say_;
  std::optional<Stress> load_;
};

}  // namespace kepler::lab::recorder
