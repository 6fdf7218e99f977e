#include "energy/platform/ipmi/bmc_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/platform/ipmi/dcmi_power.h"
#include "energy/platform/ipmi/simulated_bmc.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::ipmi {
namespace {

using ::testing::HasSubstr;

class BmcLinkTest : public ::testing::Test {
 protected:
  BmcLinkTest() { bmc_.dcmi_watts = 217; }
  uint16_t Watts() {
    const auto answer = link_.Ask(DcmiPowerRequest());
    const auto reading = answer ? ParseDcmiPower(*answer) : Result<DcmiReading>(std::unexpected(answer.error()));
    return reading ? reading->watts : 0;
  }
  Error Failure() {
    const auto answer = link_.Ask(DcmiPowerRequest());
    return answer ? Error{} : answer.error();
  }

  testing::FakeClock clock_;
  SimulatedBmc bmc_{clock_};
  BmcLink link_{"/dev/ipmi0", bmc_.opener(), testing::Lend(clock_)};
};

TEST_F(BmcLinkTest, Ask_Twice_OpensOnce) {
  EXPECT_EQ(Watts(), 217);
  bmc_.dcmi_watts = 431;
  EXPECT_EQ(Watts(), 431);
  EXPECT_EQ(bmc_.opens, 1);
  EXPECT_EQ(bmc_.requests, 2);
}

TEST_F(BmcLinkTest, Ask_SilentBmc_TimesOutAtTheDeadline) {
  bmc_.is_silent = true;
  const BootTime begin = clock_.Now();
  const Error error = Failure();
  EXPECT_EQ(error.kind, ErrorKind::kTimeout);
  EXPECT_THAT(error.message, HasSubstr("/dev/ipmi0: the BMC has not answered within 5 s"));
  EXPECT_EQ(clock_.Now() - begin, BmcLink::kDeadline);
  bmc_.is_silent = false;
  EXPECT_EQ(Watts(), 217);
  EXPECT_EQ(bmc_.opens, 1);
}

TEST_F(BmcLinkTest, Ask_AnswerOfAnEarlierRequest_IsDropped) {
  bmc_.is_slow = true;
  EXPECT_EQ(Failure().kind, ErrorKind::kTimeout);
  bmc_.is_slow = false;
  bmc_.dcmi_watts = 431;
  EXPECT_EQ(Watts(), 431) << "217 W arrived first";
}

TEST_F(BmcLinkTest, Ask_DeviceReplaced_OpensAndRepeats) {
  EXPECT_EQ(Watts(), 217);
  bmc_.Remove();
  EXPECT_EQ(Watts(), 217);
  EXPECT_EQ(bmc_.opens, 2);
}

TEST_F(BmcLinkTest, Ask_DeviceRemoved_GivesTheErrorOfTheOpenerUntilItReturns) {
  EXPECT_EQ(Watts(), 217);
  bmc_.Remove();
  bmc_.open_error = Error{ErrorKind::kNotFound, "open /dev/ipmi0: No such file or directory"};
  EXPECT_EQ(Failure().kind, ErrorKind::kNotFound);
  EXPECT_EQ(Failure().message, "open /dev/ipmi0: No such file or directory");
  bmc_.open_error.reset();
  EXPECT_EQ(Watts(), 217);
}

TEST(IpmiDevice, Find_EachName_InOrder) {
  testing::FakeTree dev;
  EXPECT_EQ(FindIpmiDevice(dev.root()), "");
  for (const char* name : {"ipmidev/0", "ipmi/0", "ipmi0"}) {
    dev.Write(name, "");
    EXPECT_EQ(FindIpmiDevice(dev.root()), dev.Path(name));
  }
}

TEST(IpmiDevice, Open_NoDevice_NamesThePathAndTheModules) {
  testing::FakeTree dev;
  const auto device = OpenIpmiDevice(dev.Path("ipmi0"));
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(device.error().message, HasSubstr(dev.Path("ipmi0")));
  EXPECT_THAT(device.error().message, HasSubstr("load the modules ipmi_si and ipmi_devintf"));
}

/// A file that is no IPMI device has no such ioctl.
TEST(IpmiDevice, Send_OtherFile_IsAnErrorWithThePath) {
  testing::FakeTree dev;
  dev.Write("ipmi0", "");
  auto device = OpenIpmiDevice(dev.Path("ipmi0"));
  ASSERT_TRUE(device);
  const Status sent = (*device)->Send(1, DcmiPowerRequest());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, ErrorKind::kIo);
  EXPECT_THAT(sent.error().message, HasSubstr(dev.Path("ipmi0")));
  EXPECT_FALSE((*device)->Receive());
}

}  // namespace
}  // namespace kepler::energy::platform::ipmi
