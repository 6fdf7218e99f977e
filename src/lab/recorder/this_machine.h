#pragma once
// The machine that this program runs on, as Collect() wants it: loads of stress-ng, and the agent that measures them.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "daemon/signals.h"
#include "lab/dataset/schedule.h"
#include "lab/recorder/collection.h"
#include "lab/recorder/server.h"
#include "lab/recorder/stress.h"

namespace kepler::lab::recorder {

using Sayer = std::function<void(std::string_view line)>;

/// Leaves out the phases whose stressor stress-ng does not know, which is said; the path of stress-ng, or nothing where
/// the phases need none. kInvalid where no load is left, kNotFound where stress-ng is not installed.
[[nodiscard]] Result<std::string> PrepareStressNg(std::vector<dataset::Phase>& phases, const Sayer& say);

/// While it lives, SIGINT and SIGTERM end waiting; later ones end the process, whatever it writes to. One thread: the
/// main one.
class ThisMachine final : public Bench {
 public:
  /// `agent` is asked for its page of metrics, which the prefix names. No load lasts for more than `longest` seconds.
  ThisMachine(Server agent, std::string stress_ng, double longest, Sayer say);
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
  Server agent_;
  const std::string stress_ng_;
  const double longest_;
  const Sayer say_;
  std::optional<Stress> load_;
};

}  // namespace kepler::lab::recorder
