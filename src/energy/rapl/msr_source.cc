#include "energy/rapl/msr_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kepler::energy::rapl {
namespace {

constexpr std::string_view kRemedy =
    "load the msr module and grant CAP_SYS_RAWIO; a kernel in lockdown (secure boot) refuses";

/// Reads the register `address`. The processor's byte order is that of the file.
Result<uint64_t> ReadRegister(int fd, uint32_t address, const std::string& path) {
  uint64_t value = 0;
  ssize_t got = 0;
  do {
    got = ::pread(fd, &value, sizeof value, static_cast<off_t>(address));
  } while (got < 0 && errno == EINTR);
  const int err = errno;
  const std::string what = fmt::format("{} register {:#x}", path, address);
  if (got < 0) return FailErrno("read", what, err);
  if (got != sizeof value)
    return Fail(ErrorKind::kMalformed, fmt::format("read {}: {} bytes instead of {}", what, got, sizeof value));
  return value;
}

std::unexpected<Error> WithRemedy(const Error& error) {
  return Fail(error.kind, fmt::format("{}; {}", error.message, kRemedy));
}

}  // namespace

MsrSource::MsrSource(std::string sysfs, const std::vector<std::string>& zones, std::string device_path,
                     const Clock& clock)
    : sysfs_(std::move(sysfs)),
      wanted_(zones),
      device_path_(std::move(device_path)),
      clock_(clock),
      topology_(sysfs_) {}

Result<std::vector<Domain>> MsrSource::Discover() {
  KEPLER_TRY(const X86Model model, ReadX86Model(sysfs_, buffer_));
  const auto layout = MsrLayoutOf(model);
  if (!layout) return Fail(ErrorKind::kUnavailable, "this processor has no RAPL registers");
  KEPLER_TRY(auto online, topology_.Online());
  topology_.Learn();
  online_ = std::move(online);
  KEPLER_TRY(const auto places, FindPlaces(model, *layout));
  KEPLER_TRY(auto found, FindCounters(model, *layout, places));
  registers_ = std::move(found.registers);
  return std::move(found.domains);
}

/// Fails if no place can be read.
Result<std::vector<MsrSource::Place>> MsrSource::FindPlaces(const X86Model& model, const MsrLayout& layout) {
  std::vector<Place> places;
  const bool per_die = !model.is_amd() && topology_.HasDies();
  for (const os::PlacedCpu& at : OnePerPart(topology_.PlacesOf(online_), per_die)) places.push_back(Probe(at, layout));
  if (places.empty())
    return Fail(ErrorKind::kNotFound, sysfs_ + "/devices/system/cpu does not show the package of any CPU");
  if (std::ranges::all_of(places, [](const Place& place) { return place.fault.has_value(); }))
    return WithRemedy(*places.front().fault);
  return places;
}

MsrSource::Place MsrSource::Probe(const os::PlacedCpu& at, const MsrLayout& layout) const {
  Place place{at, 0, {}, {}};
  const std::string path = PathOf(at.cpu);
  const auto device = os::OpenAt(AT_FDCWD, path.c_str(), O_NONBLOCK);
  const auto unit = device ? ReadRegister(device->get(), layout.unit_address, path)
                           : Result<uint64_t>(std::unexpected(device.error()));
  if (!unit) {
    place.fault = unit.error();
    return place;
  }
  place.unit_register = *unit;
  for (const MsrCounter& counter : layout.counters)
    if (ReadRegister(device->get(), counter.address, path).value_or(0) != 0) place.kinds.push_back(counter.kind);
  const bool has_unit = EnergyUnitOf({}, CounterKind::kPackage, *unit).has_value();
  if (!has_unit || std::ranges::find(place.kinds, CounterKind::kPackage) == place.kinds.end()) {
    place.fault = {ErrorKind::kUnavailable, fmt::format("the {} of RAPL reads 0 in {}, as in most virtual machines",
                                                        has_unit ? "package counter" : "energy unit", path)};
  }
  return place;
}

/// A counter that exists at one place is expected at all of them.
Result<MsrSource::Found> MsrSource::FindCounters(const X86Model& model, const MsrLayout& layout,
                                                 const std::vector<Place>& places) {
  std::vector<CounterKind> kinds;
  for (const CounterKind kind : kCounterKinds)
    if (std::ranges::any_of(places, [kind](const Place& place) {
          return !place.fault && std::ranges::find(place.kinds, kind) != place.kinds.end();
        }))
      kinds.push_back(kind);
  std::vector<os::PlacedCpu> cpus;
  cpus.reserve(places.size());
  for (const Place& place : places) cpus.push_back(place.at);
  Found found;
  std::string existing;
  for (PlacedCounter& counter : LayOut(sysfs_, cpus, kinds)) {
    if (existing.find(counter.domain.zone) == std::string::npos)
      existing += (existing.empty() ? "" : ", ") + counter.domain.zone;
    if (!wanted_.Takes(counter.domain.zone, model.is_amd())) continue;
    const auto place = std::ranges::find(places, counter.at.cpu, [](const Place& p) { return p.at.cpu; });
    const auto address = std::ranges::find(layout.counters, counter.kind, &MsrCounter::kind);
    Register at{counter.at.cpu, address->address, {}, place->fault.value_or(Error{})};
    if (!place->fault) at.unit = EnergyUnitOf(model, counter.kind, place->unit_register);
    if (at.unit) {
      counter.domain.range = at.unit->Range();
      counter.domain.resolution.joules = at.unit->ToJoules(1);
    }
    if (model.is_amd() && counter.kind == CounterKind::kCore)
      counter.domain.note = "on AMD this zone measures a single core of the socket";
    if (counter.kind != CounterKind::kPsys) parts_[counter.domain.key] = counter.at.part;
    found.registers.push_back(std::move(at));
    found.domains.push_back(std::move(counter.domain));
  }
  if (wanted_.all() && model.is_amd()) SayCoreIsLeftOut(core_is_said_);
  if (found.domains.empty()) return Fail(ErrorKind::kInvalid, "rapl.zones selects no register; available: " + existing);
  return found;
}

void MsrSource::Read(std::vector<DomainReading>& out) {
  out.resize(registers_.size());
  std::optional<uint32_t> cpu;
  Result<UniqueFd> device = UniqueFd();
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& counter = registers_[i];
    if (std::exchange(cpu, counter.cpu) != counter.cpu)
      device = os::OpenAt(AT_FDCWD, PathOf(counter.cpu).c_str(), O_NONBLOCK);
    out[i].value = ReadCounter(counter, device);
    out[i].at = clock_.Now();
  }
}

Answer MsrSource::ReadCounter(const Register& counter, const Result<UniqueFd>& device) const {
  if (!device) return device.error();
  if (!counter.unit) return counter.fault;
  const std::string path = PathOf(counter.cpu);
  const auto value = ReadRegister(device->get(), counter.address, path);
  if (!value) return value.error();
  const auto count = static_cast<uint32_t>(*value);  // the high half is reserved
  if (count == 0) return Error{ErrorKind::kUnavailable, fmt::format("{} register {:#x} is 0", path, counter.address)};
  return RawCounter{counter.unit->ToMicrojoules(count)};
}

bool MsrSource::HasChanged() {
  const auto online = topology_.Online();
  if (online && *online != online_) return true;
  return std::ranges::any_of(registers_, [](const Register& counter) { return !counter.unit; });
}

bool MsrSource::IsOffline(const Domain& domain) {
  const auto part = parts_.find(domain.key);
  return part != parts_.end() && topology_.IsOffline(part->second);
}

std::string MsrSource::PathOf(uint32_t cpu) const {
  constexpr std::string_view kPlaceholder = "%d";
  std::string path = device_path_;
  if (const size_t at = path.find(kPlaceholder); at != std::string::npos)
    path.replace(at, kPlaceholder.size(), std::to_string(cpu));
  return path;
}

}  // namespace kepler::energy::rapl
