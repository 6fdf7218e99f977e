#include "lab/recorder/this_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace kepler::lab::recorder {
namespace {

bool AreIdle(const std::vector<dataset::Phase>& phases) {
  return std::ranges::all_of(phases, [](const dataset::Phase& phase) { return phase.instances == 0; });
}

}  // namespace

Result<std::string> PrepareStressNg(std::vector<dataset::Phase>& phases, const Sayer& say) {
  if (AreIdle(phases)) return std::string();
  KEPLER_TRY(std::string program, FindStressNg());
  KEPLER_TRY(const auto known, ListStressors(program));
  std::set<std::string> unknown;
  std::erase_if(phases, [&](const dataset::Phase& phase) {
    if (phase.instances == 0 || known.contains(phase.stressor)) return false;
    unknown.insert(phase.stressor);
    return true;
  });
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& name : unknown) {
    const std::string_view nearest = NearestName(name, names);
    say(fmt::format("this stress-ng has no stressor {}; skipping it{}", name,
                    nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
  }
  if (AreIdle(phases))
    return Fail(ErrorKind::kInvalid,
                "this stress-ng has none of these stressors; stress-ng --stressors lists its stressors");
  return program;
}

ThisMachine::ThisMachine(http::retrying::Server agent, std::string stress_ng, double longest, Sayer say)
    : agent_(std::move(agent)), stress_ng_(std::move(stress_ng)), longest_(longest), say_(std::move(say)) {}

ThisMachine::~ThisMachine() {
  load_.reset();  // first: nobody would end it
  signals_.Release();
}

double ThisMachine::Now() { return std::chrono::duration<double>(clock_.Now().time_since_epoch()).count(); }

bool ThisMachine::WaitUntil(double time) {
  const double left = std::max(time - Now(), 0.0);
  return !signals_.Wait(std::chrono::nanoseconds(std::llround(left * 1e9)));
}

Status ThisMachine::StartLoad(const dataset::Phase& phase) {
  constexpr unsigned kLonger = 30;  // than it is wanted: should this program be killed
  load_.reset();
  KEPLER_TRY(Stress stress, Stress::Start(stress_ng_, phase.stressor, phase.instances,
                                          static_cast<unsigned>(std::ceil(longest_)) + kLonger));
  load_.emplace(std::move(stress));
  return {};
}

Status ThisMachine::CheckLoad() {
  if (load_ && load_->IsRunning()) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("stress-ng has ended with {}", load_ ? load_->Ending() : std::string("nothing")));
}

Result<std::string> ThisMachine::Scrape() {
  constexpr size_t kMaxPage = size_t{256} << 20;
  std::string page;
  const auto take = [&](std::string_view piece) -> Status {
    page += piece;
    if (page.size() <= kMaxPage) return {};
    return Fail(ErrorKind::kMalformed, fmt::format("{}: the page is truncated", agent_.peer.Url()));
  };
  KEPLER_CHECK_OK(http::retrying::Ask(agent_, "", [&] { page.clear(); }, take));
  return page;
}

}  // namespace kepler::lab::recorder
