#pragma once
// A Resolver on a fake /proc.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "cgroup/owner_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "workload/patient_limits.h"
#include "workload/resolver.h"

namespace kepler::workload {

inline const std::string kId(64, 'a');

class ResolverTest : public ::testing::Test {
 protected:
  static cgroup::ProcessInfo Process(int pid, std::string exe, const std::string& cgroup = "/system.slice/x.service") {
    cgroup::ProcessInfo process;
    process.key = {.tgid = pid, .start_ticks = 1000};
    process.exe = std::move(exe);
    process.comm = process.exe.substr(process.exe.rfind('/') + 1).substr(0, 15);
    process.cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", cgroup}});
    return process;
  }
  static cgroup::ProcessInfo InContainer(int pid, std::string exe = "/usr/bin/burn") {
    return Process(pid, std::move(exe), "/system.slice/docker-" + kId + ".scope");
  }
  void Show(int pid, std::string_view environ, std::string_view cmdline) {
    tree_.Write(std::to_string(pid) + "/environ", environ);
    tree_.Write(std::to_string(pid) + "/cmdline", cmdline);
    SetUid(pid, 0);
  }
  void SetUid(int pid, uint32_t uid) {
    tree_.Write(std::to_string(pid) + "/status", "Name:\tx\nUid:\t" + std::to_string(uid) + "\t0\t0\t0\n");
  }
  /// Makes the files unreadable: reading them now fails and is counted.
  void Hide(int pid) {
    for (const auto* file : {"/environ", "/cmdline"}) {
      tree_.Remove(std::to_string(pid) + file);
      tree_.MakeDir(std::to_string(pid) + file);
    }
    SetUid(pid, 0);
  }
  /// Resolves one process in each of `containers`; each process is gone before the next one starts.
  void MeetOthers(int containers) {
    Show(99, std::string_view("HOSTNAME=many\0", 14), "");
    for (int i = 1; i <= containers; ++i) {
      const auto digits = std::to_string(i);
      const auto path = "/docker/" + std::string(64 - digits.size(), '0') + digits;
      ASSERT_EQ(resolver_.Resolve(Process(99, "/bin/sh", path)).container_name, "many");
    }
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  Resolver resolver_{tree_.root(), clock_, kPatient};
};

}  // namespace kepler::workload
