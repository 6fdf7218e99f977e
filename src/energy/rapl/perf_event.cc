#include "energy/rapl/perf_event.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace kepler::energy::rapl {
namespace {

constexpr size_t kShownBytes = 40;

class KernelCounter final : public PerfCounter {
 public:
  KernelCounter(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  [[nodiscard]] Result<uint64_t> Read() override {
    uint64_t count = 0;
    ssize_t got = 0;
    do {
      got = ::read(fd_.get(), &count, sizeof count);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return FailErrno("read", name_);
    // The kernel's answer for an event in an error state.
    if (got != sizeof count) return Fail(ErrorKind::kGone, "read " + name_ + ": the kernel has ended the event");
    return count;
  }

 private:
  UniqueFd fd_;
  std::string name_;
};

}  // namespace

Result<uint64_t> ParseEventConfig(std::string_view text) {
  constexpr std::string_view kName = "event=0x";
  std::optional<uint64_t> config;
  if (text.starts_with(kName)) config = ParseNumber<uint64_t>(text.substr(kName.size()), 16);
  if (config) return *config;
  return Fail(ErrorKind::kMalformed, fmt::format("\"{}\" is not like \"event=0x02\"", SanitizeUtf8(text, kShownBytes)));
}

Result<double> ParseEventScale(std::string_view text) {
  constexpr double kMax = 1e-6;
  const auto scale = ParseNumber<double>(text);
  if (scale && *scale > 0 && *scale <= kMax) return *scale;  // also refuses NaN
  return Fail(ErrorKind::kMalformed,
              fmt::format("\"{}\" is not a number above 0 and up to 1e-6", SanitizeUtf8(text, kShownBytes)));
}

Result<std::unique_ptr<PerfCounter>> OpenPerfCounter(const PerfEvent& event, uint32_t cpu) {
  perf_event_attr attributes = {};
  attributes.type = event.type;
  attributes.size = sizeof attributes;
  attributes.config = event.config;
  constexpr int kAllProcesses = -1;
  constexpr int kNoGroup = -1;
  const long fd =
      ::syscall(SYS_perf_event_open, &attributes, kAllProcesses, static_cast<int>(cpu), kNoGroup, PERF_FLAG_FD_CLOEXEC);
  std::string name = fmt::format("perf event {:#x} of PMU {} on CPU {}", event.config, event.type, cpu);
  if (fd < 0) return FailErrno("open", name);
  return std::make_unique<KernelCounter>(UniqueFd(static_cast<int>(fd)), std::move(name));
}

}  // namespace kepler::energy::rapl
