#pragma once
// BmcLink: one request and its answer at a time, over an IpmiDriver. Opens the device when needed, and again after it
// was removed. An answer to an earlier request, which came too late, is dropped. Belongs to the thread of a
// PolledSource, except Interrupt().
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "energy/platform/ipmi/ipmi_driver.h"

namespace kepler::energy::platform::ipmi {

class BmcLink {
 public:
  /// Maximum time for an answer. The kernel gives up on a BMC that hangs after approximately the same time.
  static constexpr std::chrono::seconds kDeadline{5};
  /// Maximum number of dropped messages during one request.
  static constexpr int kMaxDropped = 1'000;

  /// Maximum time until a waiting Ask() sees Interrupt().
  static constexpr std::chrono::milliseconds kSlice{100};

  /// `path` is for messages.
  BmcLink(std::string path, IpmiOpener opener, std::shared_ptr<const Clock> clock);

  /// Returns the answer: completion code and body. It is valid until the next call. Errors contain the path: of the
  /// opener if the device does not exist; kTimeout after kDeadline; kUnavailable after Interrupt().
  [[nodiscard]] Result<Bytes> Ask(const Request& request);
  /// Closes the device until the next request: an open one keeps its module from being unloaded.
  void Close() { driver_.reset(); }
  /// Ends an Ask() that waits, and all later ones. From any thread.
  void Interrupt() { interrupted_.request_stop(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Clock& clock() const { return *clock_; }

 private:
  [[nodiscard]] std::unexpected<Error> FailInterrupted() const;
  [[nodiscard]] Status Exchange(const Request& request);
  [[nodiscard]] Status Await(const Request& request, BootTime deadline);

  std::string path_;
  IpmiOpener opener_;
  std::shared_ptr<const Clock> clock_;
  std::unique_ptr<IpmiDriver> driver_;  // null: not open
  int64_t number_ = 0;                  // of the last request
  std::vector<uint8_t> answer_;
  std::stop_source interrupted_;
};

}  // namespace kepler::energy::platform::ipmi
