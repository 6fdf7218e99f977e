#pragma once
// ThisMachine: lets Collect() use the machine that this program runs on. stress-ng makes the loads, and the agent
// measures them.
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

/// Returns the path of stress-ng. kNotFound, with the name of its package, if it is not in PATH.
[[nodiscard]] Result<std::string> FindStressNg();
/// Returns the names of the stressors that `program` knows.
[[nodiscard]] Result<std::set<std::string, std::less<>>> ListStressors(const std::string& program);

/// A running stress-ng. The destructor kills stress-ng and all of its processes; the kernel kills them if this process
/// dies.
class Stress {
 public:
  /// stress-ng exits by itself after `seconds`, in case nothing kills it before.
  [[nodiscard]] static Result<Stress> Start(const std::string& program, const std::string& stressor, unsigned instances,
                                            unsigned seconds);
  Stress(Stress&& other) noexcept;
  Stress& operator=(Stress&&) = delete;
  ~Stress();

  [[nodiscard]] bool IsRunning();
  /// Returns how stress-ng ended: "exit code 2" or "signal 9". Empty while it runs.
  [[nodiscard]] std::string Ending() const;

 private:
  explicit Stress(pid_t leader) : leader_(leader) {}

  pid_t leader_;                       // leader of the process group of stress-ng; 0: none
  std::optional<std::string> ending_;  // the destructor reaps the leader; until then no other group gets its number
};

using Sayer = std::function<void(std::string_view line)>;

/// Removes and reports (`say`) the phases with a stressor that stress-ng does not know. Returns the path of stress-ng,
/// or an empty path if no phase needs it. Errors: kInvalid if no phase with a load is left, kNotFound if stress-ng is
/// not installed.
[[nodiscard]] Result<std::string> PrepareStressNg(std::vector<dataset::Phase>& phases, const Sayer& say);

/// During the lifetime of the object, SIGINT and SIGTERM end a wait. After it, they end the process at once, also if a
/// write blocks. Main thread only.
class ThisMachine final : public Bench {
 public:
  /// `agent`: the server of /metrics; its prefix is the path of that page. `longest`: maximum duration of a load, in
  /// seconds.
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
