#include "energy/rapl/rapl_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"

namespace kepler::energy::rapl {
namespace {

/// The reading of Meter::Open() and the first sample are often in the same millisecond, so the third reading without a
/// step is the first that means something.
constexpr int kReadsBeforeOthers = 3;
/// One reading less than MeterSelector needs to replace the source by one that is not RAPL.
constexpr int kReadsBeforeChange = 4;

const uint64_t* CounterOf(const DomainReading& reading) {
  const auto* counter = std::get_if<RawCounter>(&reading.value);
  return counter == nullptr ? nullptr : &counter->microjoules;
}

/// Returns nothing if at least one domain was read.
std::optional<Error> WhyUnreadable(const std::vector<DomainReading>& readings) {
  std::optional<Error> first;
  for (const DomainReading& reading : readings) {
    const auto* error = std::get_if<Error>(&reading.value);
    if (error == nullptr) return std::nullopt;
    if (!first) first = *error;
  }
  return first ? first : Error{ErrorKind::kUnavailable, "no energy domain"};
}

}  // namespace

RaplSource::RaplSource(std::vector<RaplInterface> in_order) {
  for (RaplInterface& interface : in_order) {
    Candidate& candidate = candidates_.emplace_back();
    candidate.interface = std::move(interface);
  }
}

std::string_view RaplSource::Interface() const {
  return current_ ? candidates_[*current_].interface.name : std::string_view();
}

Result<std::vector<Domain>> RaplSource::Discover() {
  if (!current_) return OpenFirst({}, {});
  if (next_) {
    const size_t to = *std::exchange(next_, std::nullopt);
    if (auto found = candidates_[to].source->Discover()) {
      Use(to, fmt::format("the counters of {} have never moved", Interface()));
      return Adopt(*std::move(found));
    }
  }
  auto found = candidates_[*current_].source->Discover();
  if (found) return Adopt(*std::move(found));
  if (settled_) return found;
  return OpenFirst(fmt::format("{}: {}", Interface(), found.error().message), found.error());
}

/// Opens the first interface that works, except the one in use. `reasons` and `cause` say why that one does not work.
Result<std::vector<Domain>> RaplSource::OpenFirst(std::string reasons, std::optional<Error> cause) {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (current_ == i) continue;
    const Status opened = Open(candidates_[i]);
    if (opened) {
      Use(i, reasons);
      return Adopt(candidates_[i].domains);
    }
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", candidates_[i].interface.name, opened.error().message);
    // A right that is missing is what the user can give.
    if (!cause || (opened.error().kind == ErrorKind::kPermission && cause->kind != ErrorKind::kPermission))
      cause = opened.error();
  }
  return Fail(cause ? cause->kind : ErrorKind::kUnavailable, std::move(reasons));
}

Status RaplSource::Open(Candidate& candidate) {
  if (!candidate.interface.refusal.empty()) return Fail(ErrorKind::kUnavailable, candidate.interface.refusal);
  if (candidate.source == nullptr) candidate.source = candidate.interface.make();
  KEPLER_TRY(candidate.domains, candidate.source->Discover());
  candidate.source->Read(readings_);
  if (auto error = WhyUnreadable(readings_)) return std::unexpected(*std::move(error));
  candidate.is_open = true;
  candidate.first.clear();
  candidate.moved = false;
  Learn(candidate, readings_);
  return {};
}

/// Not retried: the reason is usually a missing right, and the counters of the interface in use may still move.
void RaplSource::TryOpen(Candidate& other) {
  const Status opened = Open(other);
  other.failed = !opened;
  if (opened) return;
  log::Info("RAPL counters are not advancing, and another interface to them is unavailable",
            {{"interface", std::string(Interface())},
             {"instead", std::string(other.interface.name)},
             {"err", opened.error().message}});
}

/// Each counter continues where that of the previous interface stood. `reason`: why no better interface is used.
void RaplSource::Use(size_t index, const std::string& reason) {
  Candidate& next = candidates_[index];
  if (current_) {
    Candidate& previous = candidates_[*current_];
    for (const Domain& domain : previous.domains) {
      const auto stood = previous.first.find(domain.key);
      const auto begins = next.first.find(domain.key);
      if (stood == previous.first.end() || begins == next.first.end()) continue;
      const auto shift = shifts_.find(domain.key);
      const uint64_t shown = shift == shifts_.end() ? stood->second : Shifted(stood->second, shift->second, domain);
      shifts_[domain.key] = {begins->second, shown};
    }
    Close(previous);
  }
  current_ = index;
  settled_ = next.moved;
  still_reads_ = 0;
  if (settled_) CloseOthers();
  if (!reason.empty())
    log::Warn("preferred RAPL interface is unavailable, using another one",
              {{"interface", std::string(next.interface.name)}, {"err", reason}});
  if (!next.interface.warning.empty())
    log::Warn("RAPL interface has a security risk",
              {{"interface", std::string(next.interface.name)}, {"action", next.interface.warning}});
}

std::vector<Domain> RaplSource::Adopt(std::vector<Domain> domains) {
  shift_of_.clear();
  for (const Domain& domain : domains) {
    const auto shift = shifts_.find(domain.key);
    shift_of_.push_back(shift == shifts_.end() ? std::nullopt : std::optional(shift->second));
  }
  candidates_[*current_].domains = std::move(domains);
  return candidates_[*current_].domains;
}

void RaplSource::Learn(Candidate& candidate, const std::vector<DomainReading>& readings) {
  for (size_t i = 0; i < std::min(readings.size(), candidate.domains.size()); ++i) {
    const uint64_t* counter = CounterOf(readings[i]);
    if (counter == nullptr) continue;
    const auto [first, is_new] = candidate.first.try_emplace(candidate.domains[i].key, *counter);
    candidate.moved |= !is_new && first->second != *counter;
  }
}

void RaplSource::Read(std::vector<DomainReading>& out) {
  out.clear();
  if (!current_) return;
  candidates_[*current_].source->Read(out);
  if (!settled_) Watch(out);
  for (size_t i = 0; i < std::min(out.size(), shift_of_.size()); ++i) {
    auto* counter = std::get_if<RawCounter>(&out[i].value);
    if (counter != nullptr && shift_of_[i])
      counter->microjoules = Shifted(counter->microjoules, *shift_of_[i], candidates_[*current_].domains[i]);
  }
}

void RaplSource::Watch(std::vector<DomainReading>& out) {
  Candidate& current = candidates_[*current_];
  Learn(current, out);
  if (current.moved) {
    settled_ = true;
    return CloseOthers();
  }
  if (WhyUnreadable(out)) return;
  if (++still_reads_ < kReadsBeforeOthers) return;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    Candidate& other = candidates_[i];
    if (i == *current_ || other.failed) continue;
    if (!other.is_open) {
      TryOpen(other);
      continue;
    }
    other.source->Read(readings_);
    Learn(other, readings_);
    if (!other.moved || still_reads_ < kReadsBeforeChange) continue;
    next_ = i;
    for (DomainReading& reading : out)
      reading.value = Error{ErrorKind::kGone, fmt::format("the counters of {} have never moved, while those of {} do",
                                                          current.interface.name, other.interface.name)};
    return;
  }
}

void RaplSource::CloseOthers() {
  for (size_t i = 0; i < candidates_.size(); ++i)
    if (i != *current_) Close(candidates_[i]);
}

void RaplSource::Close(Candidate& candidate) {
  candidate.source.reset();
  candidate.is_open = false;
}

/// The result wraps as the counter of `domain` does.
uint64_t RaplSource::Shifted(uint64_t raw, const Shift& shift, const Domain& domain) {
  constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
  if (domain.range.value_or(kUnlimited) == kUnlimited) return raw - shift.from + shift.to;
  const uint64_t span = *domain.range + 1;
  return (raw % span + (span - shift.from % span) + shift.to % span) % span;
}

void RaplSource::UpdateMaxPower(size_t index, Domain& domain) {
  if (current_) candidates_[*current_].source->UpdateMaxPower(index, domain);
}

bool RaplSource::HasChanged() { return next_ || (current_ && candidates_[*current_].source->HasChanged()); }

bool RaplSource::IsOffline(const Domain& domain) {
  return current_ && candidates_[*current_].source->IsOffline(domain);
}

}  // namespace kepler::energy::rapl
