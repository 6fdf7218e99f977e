#include "os/virtual_machine.h"

#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

class VirtualMachine : public ::testing::Test {
 protected:
  bool IsGuest() { return IsVirtualMachine(proc_.root(), sys_.root()); }
  void Product(std::string_view vendor, std::string_view product) {
    sys_.Write("class/dmi/id/sys_vendor", std::string(vendor) + "\n");
    sys_.Write("class/dmi/id/product_name", std::string(product) + "\n");
  }
  testing::FakeTree proc_, sys_;
};

TEST_F(VirtualMachine, NothingThere_IsNone) { EXPECT_FALSE(IsGuest()); }

TEST_F(VirtualMachine, FlagOfTheProcessor_IsOne) {
  proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n");
  EXPECT_FALSE(IsGuest());
  proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme\n");
  EXPECT_TRUE(IsGuest());
}

TEST_F(VirtualMachine, Xen_IsOne_ButNotItsFirstDomain) {
  sys_.Write("hypervisor/type", "xen\n");
  EXPECT_TRUE(IsGuest());
  proc_.Write("xen/capabilities", "control_d\n");
  EXPECT_FALSE(IsGuest());
}

TEST_F(VirtualMachine, DeviceTreeOfAnArmGuest_IsOne) {
  proc_.Write("device-tree/compatible", "linux,dummy-virt");
  EXPECT_FALSE(IsGuest());
  proc_.Write("device-tree/hypervisor/compatible", "xen,xen");
  EXPECT_TRUE(IsGuest());
}

TEST_F(VirtualMachine, NamesInDmi_SayIt) {
  Product("Dell Inc.", "PowerEdge R740");
  EXPECT_FALSE(IsGuest());
  Product("QEMU", "Standard PC (Q35 + ICH9, 2009)");
  EXPECT_TRUE(IsGuest());
  Product("Microsoft Corporation", "Virtual Machine");
  EXPECT_TRUE(IsGuest());
  Product("Microsoft Corporation", "Surface Laptop");
  EXPECT_FALSE(IsGuest());
  Product("Amazon EC2", "m6g.large");
  EXPECT_TRUE(IsGuest());
  Product("Amazon EC2", "m6g.metal");
  EXPECT_FALSE(IsGuest());
}

TEST(HasHypervisorFlag, OkMissingMalformedTruncated) {
  EXPECT_TRUE(HasHypervisorFlag("flags : hypervisor"));
  EXPECT_FALSE(HasHypervisorFlag(""));
  EXPECT_FALSE(HasHypervisorFlag("flags"));
  EXPECT_FALSE(HasHypervisorFlag("flags\t: hypervisors nohypervisor"));
  EXPECT_FALSE(HasHypervisorFlag("model name : hypervisor\n")) << "only a flag counts";
  EXPECT_FALSE(HasHypervisorFlag("flags\t: fpu hyperv"));
}

}  // namespace
}  // namespace kepler::os
