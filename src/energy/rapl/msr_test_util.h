#pragma once
// A machine with msr devices: plain sparse files, read at the number of the register as the kernel's devices are.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "testing/fake_tree.h"

namespace kepler::energy::rapl {

inline constexpr uint64_t kUnit14 = 0xA0E03;  // of most processors: 2^-14 J
inline constexpr uint32_t kUnitMsr = 0x606;
inline constexpr uint32_t kPackageMsr = 0x611;
inline constexpr uint32_t kDramMsr = 0x619;
inline constexpr uint32_t kCoreMsr = 0x639;
inline constexpr uint32_t kUncoreMsr = 0x641;
inline constexpr uint32_t kPsysMsr = 0x64D;

class MsrMachine {
 public:
  explicit MsrMachine(testing::FakeTree& tree) : tree_(tree) {}

  [[nodiscard]] std::string device_path() const { return tree_.Path("dev/cpu/%d/msr"); }
  /// For example "0000", "0006", "0055".
  void Processor(const std::string& vendor, const std::string& family, const std::string& model) {
    tree_.Write("devices/system/cpu/modalias",
                "cpu:type:x86,ven" + vendor + "fam" + family + "mod" + model + ":feature:,0000\n");
  }
  void Online(const std::string& list) { tree_.Write("devices/system/cpu/online", list + "\n"); }
  void Cpu(uint32_t cpu, uint32_t package, uint32_t die = 0) {
    const std::string topology = "devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree_.Write(topology + "physical_package_id", std::to_string(package) + "\n");
    tree_.Write(topology + "die_id", std::to_string(die) + "\n");
  }
  [[nodiscard]] static std::string File(uint32_t cpu) { return "dev/cpu/" + std::to_string(cpu) + "/msr"; }
  void Set(uint32_t cpu, uint32_t address, uint64_t value) {
    const std::string path = tree_.Path(File(cpu));
    if (::access(path.c_str(), F_OK) != 0) tree_.Write(File(cpu), "");
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), &value, sizeof value, static_cast<off_t>(address)),
              static_cast<ssize_t>(sizeof value));
    // As on a machine, the registers behind the last one can be read.
    const off_t end = ::lseek(file.get(), 0, SEEK_END);
    ASSERT_EQ(::ftruncate(file.get(), std::max(end, static_cast<off_t>(address) + kBehind)), 0);
  }

 private:
  static constexpr off_t kBehind = 0x100;
  testing::FakeTree& tree_;
};

}  // namespace kepler::energy::rapl
