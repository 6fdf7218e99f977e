#pragma once
// The workloads of one level of a snapshot: names, figures, and the first rows by a query. Pure; any thread. The
// snapshot must outlive all of it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "export/api/workload_query.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

/// Names and ids of a workload, and of the workloads it belongs to. "": unknown, or it has none.
struct Names {
  std::string id;  // the process id of a process
  std::string_view name;
  std::string_view name_space;
  std::string_view pod;  // name
  std::string_view pod_id;
  std::string_view container;  // name
  std::string_view container_id;
  std::string_view vm_id;
  std::string_view instance;  // OpenStack's name of a VM
  std::string_view project;   // OpenStack's name of a VM's project
  std::string_view project_id;
  std::string_view exe;
  std::string_view runtime;  // of a container, or the hypervisor of a VM
  int32_t pid = 0;           // 0: not a process
};

class Workloads {
 public:
  Workloads(const snapshot::Snapshot& snapshot, snapshot::Level level);

  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] size_t zones() const { return zones_; }  // leading zones of the snapshot
  [[nodiscard]] Names NamesOf(size_t row) const;
  [[nodiscard]] Energy energy(size_t row, size_t zone) const { return (*energy_)[row * zones_ + zone]; }
  /// Of a namespace: the sum of its listed pods.
  [[nodiscard]] double watts(size_t row, size_t zone) const { return (*watts_)[row * zones_ + zone]; }
  [[nodiscard]] bool has_cpu() const { return cpu_ != nullptr; }  // false: a namespace, and it has no state either
  [[nodiscard]] Nanoseconds cpu(size_t row) const { return (*cpu_)[row]; }
  [[nodiscard]] bool IsRunning(size_t row) const {
    return state_ == nullptr || (*state_)[row] == snapshot::State::kRunning;
  }

  struct Found {
    size_t matching = 0;
    std::vector<size_t> rows{};  // the first of them
  };
  /// By the query's sort key in the zone that ranks workloads, in descending order; equal ones in order of their id.
  [[nodiscard]] Found Find(const Query& query) const;

 private:
  void Load();
  template <class Table>
  void Use(const Table& table);
  void SumPods();
  void NamePod(std::string_view id, Names& names) const;
  void NameContainer(const snapshot::ContainerIdentity& container, Names& names) const;
  [[nodiscard]] bool Precedes(size_t a, size_t b) const;

  const snapshot::Snapshot& snapshot_;
  const snapshot::Level level_;
  const std::unordered_map<std::string_view, const snapshot::ContainerIdentity*> containers_;  // by id
  const std::unordered_map<std::string_view, const snapshot::PodIdentity*> pods_;              // by id
  size_t rows_ = 0;
  size_t zones_ = 0;
  const std::vector<Energy>* energy_ = nullptr;
  const std::vector<double>* watts_ = nullptr;
  const std::vector<Nanoseconds>* cpu_ = nullptr;
  const std::vector<snapshot::State>* state_ = nullptr;
  std::vector<double> summed_watts_;
};

}  // namespace kepler::api
