#include "os/read_time_accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstring>
#include <string>
#include <vector>

#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

using ::testing::HasSubstr;

constexpr TimeAccounting kBoth = {KeptApart::kYes, KeptApart::kYes};
constexpr TimeAccounting kNeither = {KeptApart::kNo, KeptApart::kNo};

const std::string kConfig =
    "#\n# Automatically generated file; DO NOT EDIT.\n#\nCONFIG_PARAVIRT=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n"
    "CONFIG_PARAVIRT_TIME_ACCOUNTING=y\n";

/// printf 'CONFIG_PARAVIRT=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n' | gzip -n
constexpr unsigned char kMember[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x73, 0xf6,
                                     0xf7, 0x73, 0xf3, 0x74, 0x8f, 0x0f, 0x70, 0x0c, 0x72, 0x0c, 0xf3, 0x0c,
                                     0x0a, 0xb1, 0xad, 0xe4, 0x72, 0x46, 0x15, 0x89, 0x0f, 0xf1, 0xf4, 0x75,
                                     0x8d, 0x77, 0x74, 0x76, 0xf6, 0x0f, 0xf5, 0x0b, 0xf1, 0xf4, 0x73, 0x07,
                                     0xaa, 0x00, 0x00, 0xf2, 0xb9, 0x88, 0xea, 0x34, 0x00, 0x00, 0x00};
const std::string kGzip(reinterpret_cast<const char*>(kMember), sizeof(kMember));

std::string Types(const std::vector<std::string>& names) {
  std::string text(1, '\0');
  for (const std::string& name : names) text += name + std::string(1, '\0');
  const uint32_t sizes[] = {24, 0, 4, 4, static_cast<uint32_t>(text.size())};  // header, types, names
  std::string btf = {'\x9F', '\xEB', 1, 0};
  btf.append(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  return btf + "type" + text;
}

TEST(KernelConfig, OptionsThatAreOn_AreKeptApart) {
  EXPECT_EQ(ParseKernelConfig(kConfig), (TimeAccounting{KeptApart::kNo, KeptApart::kYes}));
  EXPECT_EQ(ParseKernelConfig("CONFIG_IRQ_TIME_ACCOUNTING=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n"), kBoth);
}

TEST(KernelConfig, OptionsThatAreMissingOrOff_AreNot) {
  EXPECT_EQ(ParseKernelConfig("CONFIG_SMP=y\n"), kNeither);
  EXPECT_EQ(ParseKernelConfig("CONFIG_SMP=y\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set\n"
                              "CONFIG_IRQ_TIME_ACCOUNTING=n\n# CONFIG_IRQ_TIME_ACCOUNTING=y\n"),
            kNeither);
}

TEST(KernelConfig, OtherOrCutText_IsMalformed) {
  for (const std::string& text : {std::string(), std::string("\n"), std::string("PRETTY_NAME=\"Debian\"\n"),
                                  kConfig.substr(0, kConfig.size() - 1)}) {
    const auto parsed = ParseKernelConfig(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kMalformed);
  }
}

TEST(KernelTypes, MembersOfTheRunQueue_SayIt) {
  EXPECT_EQ(ParseKernelTypes(Types({"rq", "prev_irq_time", "prev_steal_time_rq"})), kBoth);
  EXPECT_EQ(ParseKernelTypes(Types({"rq", "prev_irq_time_x", "x_prev_steal_time_rq"})), kNeither);
  EXPECT_EQ(ParseKernelTypes(Types({"prev_steal_time_rq", "rq"})), (TimeAccounting{KeptApart::kNo, KeptApart::kYes}));
}

TEST(KernelTypes, OtherOrCutBytes_AreMalformed) {
  const std::string whole = Types({"rq", "prev_irq_time"});
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(ParseKernelTypes(whole.substr(0, size))) << size;
  EXPECT_FALSE(ParseKernelTypes(Types({"task_struct"})));
  EXPECT_FALSE(ParseKernelTypes("\x7F" + whole.substr(1)));
  std::string far = whole;
  std::memset(far.data() + 4, 0xFF, 20);
  EXPECT_FALSE(ParseKernelTypes(far));
}

TEST(KernelCmdline, NoStealAcc_IsAWordOfItsOwn) {
  EXPECT_TRUE(HasStealAccountingOff("root=/dev/vda no-steal-acc quiet\n"));
  EXPECT_TRUE(HasStealAccountingOff("no-steal-acc\n"));
  EXPECT_FALSE(HasStealAccountingOff("x=no-steal-acc no-steal-acct -- no-steal-acc\n"));
  EXPECT_FALSE(HasStealAccountingOff(""));
}

class KernelFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<TimeAccounting> Read() const {
    return ReadTimeAccounting({tree_.Path("proc"), tree_.Path("sys"), tree_.Path("boot")});
  }
  static std::string ConfigName() {
    utsname name = {};
    EXPECT_EQ(::uname(&name), 0);
    return std::string("boot/config-") + name.release;
  }
  testing::FakeTree tree_;
};

TEST_F(KernelFilesTest, Nothing_SaysWhatWasTried) {
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kUnavailable);
  for (const char* part : {"config.gz", "/boot/config-", "btf/vmlinux"})
    EXPECT_THAT(read.error().message, HasSubstr(part));
}

TEST_F(KernelFilesTest, TheFirstThatCanBeRead_Counts) {
  tree_.Write("sys/kernel/btf/vmlinux", Types({"rq", "prev_irq_time", "prev_steal_time_rq"}));
  EXPECT_EQ(Read(), kBoth);
  tree_.Write(ConfigName(), "CONFIG_SMP=y\n");
  EXPECT_EQ(Read(), kNeither);
  tree_.Write("proc/config.gz", kGzip);
  EXPECT_EQ(Read(), (TimeAccounting{KeptApart::kNo, KeptApart::kYes}));
  tree_.Write("proc/config.gz", kGzip.substr(0, 30));
  EXPECT_EQ(Read(), kNeither) << "what is cut says nothing";
}

TEST_F(KernelFilesTest, BootedWithoutStealAccounting_ItIsInTheTasks) {
  tree_.Write("proc/config.gz", kGzip);
  tree_.Write("proc/cmdline", "quiet no-steal-acc\n");
  EXPECT_EQ(Read(), kNeither);
}

TEST(KernelFilesLive, TypesAreFoundInTheAgentsOwnSysfs) {
  if (!ReadWholeFile("/sys/kernel/btf/vmlinux")) GTEST_SKIP() << "needs a kernel with BTF";
  const auto read = ReadTimeAccounting({.procfs = "/absent", .boot = "/absent"});
  EXPECT_TRUE(read) << read.error().message;
}

TEST(KernelFilesLive, TypesAndConfigurationOfThisKernel_Agree) {
  const auto config = ReadTimeAccounting({"/proc", "/absent"});
  const auto btf = ReadWholeFile("/sys/kernel/btf/vmlinux");
  if (!config || !btf) GTEST_SKIP() << "needs a kernel with both";
  TimeAccounting types = ParseKernelTypes(*btf).value_or(TimeAccounting{});
  if (HasStealAccountingOff(ReadWholeFile("/proc/cmdline").value_or(""))) types.steal = KeptApart::kNo;
  EXPECT_EQ(types, *config);
}

}  // namespace
}  // namespace kepler::os
