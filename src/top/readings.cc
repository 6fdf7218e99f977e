#include "top/readings.h"

#include <utility>

#include "json/document.h"

namespace kepler::top {
namespace {

using json::Cursor;

constexpr uint64_t kApiVersion = 1;
constexpr size_t kMaxValues = 200'000;  // 1,000 rows of 20 values, each with ten zones, need less

/// Fills the members of one object. The first error stays.
class Reader {
 public:
  explicit Reader(const Cursor& object) : object_(object) {}

  Reader& Text(std::string_view key, std::string& out) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(out, at.Text());
      return {};
    });
  }
  Reader& Number(std::string_view key, double& out) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(out, at.Number());
      return {};
    });
  }
  Reader& Number(std::string_view key, std::optional<double>& out) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(out, at.Number());
      return {};
    });
  }
  Reader& Bool(std::string_view key, bool& out) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(out, at.Bool());
      return {};
    });
  }
  template <class C>
  Reader& Count(std::string_view key, C& out) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(out, at.Count(UINT64_MAX / 4096));
      return {};
    });
  }
  /// Calls `read` with the value, unless it is missing or null.
  template <class F>
  Reader& Take(std::string_view key, F&& read) {
    if (!status_) return *this;
    auto found = object_.Find(key);
    if (!found)
      status_ = std::unexpected(found.error());
    else if (*found && !(*found)->IsNull())
      status_ = read(**found);
    return *this;
  }
  template <class T, class F>
  Reader& Each(std::string_view key, std::vector<T>& out, F&& read) {
    return Take(key, [&](const Cursor& at) -> Status {
      KEPLER_TRY(const auto elements, at.Elements());
      out.reserve(elements.size());
      for (const Cursor& element : elements) {
        KEPLER_CHECK_OK(read(element, out.emplace_back()));
      }
      return {};
    });
  }
  [[nodiscard]] Status Done() { return std::move(status_); }

 private:
  const Cursor& object_;
  Status status_;
};

Status ReadZone(const Cursor& at, ZoneReading& out) {
  return Reader(at)
      .Text("zone", out.zone)
      .Text("source", out.source)
      .Number("watts", out.watts)
      .Number("active_watts", out.active_watts)
      .Number("idle_watts", out.idle_watts)
      .Number("joules", out.joules)
      .Number("active_joules", out.active_joules)
      .Number("idle_joules", out.idle_joules)
      .Done();
}

Status ReadMeter(const Cursor& at, MeterReading& out) {
  return Reader(at).Text("name", out.name).Text("state", out.state).Text("reason", out.reason).Done();
}

Status ReadUses(const Cursor& at, std::vector<ZoneUse>& out) {
  KEPLER_TRY(const auto* members, at.Members());
  for (const auto& [zone, value] : *members) {
    ZoneUse& use = out.emplace_back();
    use.zone = zone;
    KEPLER_CHECK_OK(Reader(at.At(value)).Number("watts", use.watts).Number("joules", use.joules).Done());
  }
  return {};
}

Status ReadRow(const Cursor& at, WorkloadReading& out) {
  return Reader(at)
      .Text("id", out.id)
      .Text("name", out.name)
      .Text("namespace", out.name_space)
      .Text("pod", out.pod)
      .Text("container", out.container)
      .Text("comm", out.comm)
      .Text("exe", out.exe)
      .Text("runtime", out.runtime)
      .Count("pid", out.pid)
      .Bool("running", out.running)
      .Number("watts", out.watts)
      .Number("cpu_cores", out.cpu_cores)
      .Number("joules", out.joules)
      .Number("cpu_seconds", out.cpu_seconds)
      .Take("zones", [&](const Cursor& zones) { return ReadUses(zones, out.zones); })
      .Done();
}

Status ReadWorkloads(const Cursor& at, Readings& out) {
  return Reader(at)
      .Text("level", out.level)
      .Text("zone", out.zone)
      .Count("total", out.total)
      .Count("matching", out.matching)
      .Number("unlisted_joules", out.unlisted_joules)
      .Number("unattributed_joules", out.unattributed_joules)
      .Each("rows", out.rows, ReadRow)
      .Done();
}

Status CheckVersion(const Cursor& root) {
  KEPLER_TRY(const uint64_t version, root.Count("api", UINT32_MAX));
  if (version != kApiVersion) return root.Refuse("this is another version of the API; use the kepler of that agent");
  return {};
}

/// A list of numbers, or null for unknown ones.
Result<std::vector<std::optional<double>>> WattsOf(const Cursor& point, std::string_view key) {
  KEPLER_TRY(const Cursor list, point.Member(key));
  if (const auto numbers = list.Numbers()) return std::vector<std::optional<double>>(numbers->begin(), numbers->end());
  KEPLER_TRY(const auto elements, list.Elements());
  std::vector<std::optional<double>> out;
  for (const Cursor& element : elements) {
    auto& watts = out.emplace_back();
    if (element.IsNull()) continue;
    KEPLER_TRY(watts, element.Number());
  }
  return out;
}

}  // namespace

Result<Readings> ReadReadings(std::string_view text) {
  KEPLER_TRY(const json::Value value, json::Parse(text, kMaxValues));
  const Cursor root(value);
  KEPLER_CHECK_OK(CheckVersion(root));
  Readings out;
  KEPLER_CHECK_OK(Reader(root)
                      .Text("time", out.time)
                      .Number("interval_seconds", out.interval_seconds)
                      .Bool("stale", out.stale)
                      .Take("agent",
                            [&](const Cursor& at) {
                              return Reader(at)
                                  .Text("version", out.version)
                                  .Text("node", out.node)
                                  .Text("started", out.started)
                                  .Done();
                            })
                      .Each("zones", out.zones, ReadZone)
                      .Each("meters", out.meters, ReadMeter)
                      .Done());
  KEPLER_TRY(const auto workloads, root.Find("workloads"));
  if (workloads) {
    KEPLER_CHECK_OK(ReadWorkloads(*workloads, out));
  }
  return out;
}

Result<PowerHistory> ReadHistory(std::string_view text) {
  KEPLER_TRY(const json::Value value, json::Parse(text, kMaxValues));
  const Cursor root(value);
  KEPLER_CHECK_OK(CheckVersion(root));
  PowerHistory out;
  KEPLER_CHECK_OK(Reader(root).Number("step_seconds", out.step_seconds).Done());
  KEPLER_TRY(const std::vector<std::string> zones, root.Texts("zones"));
  for (const std::string& zone : zones) out.zones.push_back({.zone = zone});
  KEPLER_TRY(const auto points, root.Elements("points"));
  for (const Cursor& point : points) {
    for (ZoneHistory& zone : out.zones) zone.watts.emplace_back();
    for (const std::string_view key : {"active_watts", "idle_watts"}) {
      KEPLER_TRY(const auto watts, WattsOf(point, key));
      for (size_t z = 0; z < out.zones.size() && z < watts.size(); ++z) {
        auto& sum = out.zones[z].watts.back();
        if (watts[z]) sum = sum.value_or(0) + *watts[z];
      }
    }
  }
  return out;
}

}  // namespace kepler::top
