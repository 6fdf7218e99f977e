#include "energy/platform/ipmi/bmc_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace kepler::energy::platform::ipmi {
namespace {

bool IsRemoved(const Status& status) {
  return !status && (status.error().kind == ErrorKind::kGone || status.error().kind == ErrorKind::kNotFound);
}

}  // namespace

BmcLink::BmcLink(std::string path, IpmiOpener opener, std::shared_ptr<const Clock> clock)
    : path_(std::move(path)), opener_(std::move(opener)), clock_(std::move(clock)) {}

std::unexpected<Error> BmcLink::FailInterrupted() const {
  return Fail(ErrorKind::kUnavailable, path_ + ": the agent stops, so the BMC is not read any more");
}

/// A descriptor of a device that was removed never works again, but a new device may already exist.
Result<Bytes> BmcLink::Ask(const Request& request) {
  if (interrupted_.stop_requested()) return FailInterrupted();
  const bool was_open = driver_ != nullptr;
  Status done = Exchange(request);
  if (was_open && IsRemoved(done)) done = Exchange(request);
  if (!done) return std::unexpected(std::move(done).error());
  return Bytes(answer_);
}

Status BmcLink::Exchange(const Request& request) {
  if (driver_ == nullptr) {
    KEPLER_TRY(auto opened, opener_());
    driver_ = std::move(opened);
  }
  Status done = driver_->Send(++number_, request);
  if (done) done = Await(request, clock_->Now() + kDeadline);
  if (IsRemoved(done)) driver_.reset();
  return done;
}

Status BmcLink::Await(const Request& request, BootTime deadline) {
  for (int dropped = 0; dropped < kMaxDropped;) {
    KEPLER_TRY(auto received, driver_->Receive());
    if (!received) {
      const Nanoseconds left = deadline - clock_->Now();
      if (left <= Nanoseconds::zero()) break;
      if (interrupted_.stop_requested()) return FailInterrupted();
      KEPLER_CHECK_OK(driver_->Wait(std::min<Nanoseconds>(left, kSlice)));
      continue;
    }
    // The network function of an answer is that of its request plus 1.
    if (received->is_response && received->number == number_ && received->function == (request.function | 1) &&
        received->command == request.command) {
      answer_ = std::move(received->data);
      return {};
    }
    ++dropped;
  }
  return Fail(ErrorKind::kTimeout,
              fmt::format("{}: the BMC has not answered within {} s; it is retried; if it lasts, reset the BMC "
                          "(ipmitool mc reset cold)",
                          path_, kDeadline.count()));
}

}  // namespace kepler::energy::platform::ipmi
