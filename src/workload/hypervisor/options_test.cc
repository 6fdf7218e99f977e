#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "workload/hypervisor/vm.h"

namespace kepler::workload::hypervisor {
namespace {

using Strings = std::vector<std::string_view>;

TEST(OptionValue, EveryStyle_IsFound) {
  EXPECT_EQ(OptionValue(Strings{"vm", "-id", "7"}, "id"), "7");
  EXPECT_EQ(OptionValue(Strings{"vm", "--id", "7"}, "id"), "7");
  EXPECT_EQ(OptionValue(Strings{"vm", "-id=7"}, "id"), "7");
  EXPECT_EQ(OptionValue(Strings{"vm", "--id=7"}, "id"), "7");
}

TEST(OptionValue, ValueOfAnyBytes_PassesThrough) {
  EXPECT_EQ(OptionValue(Strings{"vm", "-id", "a=\"b\n\xff"}, "id"), "a=\"b\n\xff");
  EXPECT_EQ(OptionValue(Strings{"vm", "-id=a=b"}, "id"), "a=b");
}

TEST(OptionValue, NoValue_IsEmpty) {
  EXPECT_EQ(OptionValue(Strings{}, "id"), "");
  EXPECT_EQ(OptionValue(Strings{"-id"}, "id"), "");
  EXPECT_EQ(OptionValue(Strings{"-id", "7"}, "id"), "") << "the program's own name is no option, its argument no value";
  EXPECT_EQ(OptionValue(Strings{"vm", "-id"}, "id"), "");
  EXPECT_EQ(OptionValue(Strings{"vm", "-id="}, "id"), "");
}

TEST(OptionValue, SimilarOptions_AreOthers) {
  EXPECT_EQ(OptionValue(Strings{"vm", "-ids", "7", "id", "8", "---id", "9", "-device", "x,id=3", "-i", "d"}, "id"), "");
}

TEST(OptionValue, FirstWithoutValue_LaterCounts) {
  EXPECT_EQ(OptionValue(Strings{"vm", "--id=", "--id=7", "--id=8"}, "id"), "7");
}

TEST(ListValue, KeyAnywhere_IsFound) {
  EXPECT_EQ(ListValue("type=1,uuid=ab,x=y", "uuid", ""), "ab");
  EXPECT_EQ(ListValue("type=1,uuid=ab", "type", ""), "1");
  EXPECT_EQ(ListValue("web,debug-threads=on", "guest", "guest"), "web");
  EXPECT_EQ(ListValue("debug-threads=on,guest=web", "guest", "guest"), "web");
  EXPECT_EQ(ListValue("guest=a=b", "guest", "guest"), "a=b");
}

TEST(ListValue, DoubledComma_IsAComma) {
  EXPECT_EQ(ListValue("guest=my vm,,with comma,process=custom", "guest", "guest"), "my vm,with comma");
  EXPECT_EQ(ListValue("a,,,,b,x=y", "guest", "guest"), "a,,b");
  EXPECT_EQ(ListValue(",,", "guest", "guest"), ",");
}

TEST(ListValue, KeyAbsent_IsEmpty) {
  EXPECT_EQ(ListValue("", "guest", "guest"), "");
  EXPECT_EQ(ListValue(",", "guest", "guest"), "");
  EXPECT_EQ(ListValue("a=1,web", "guest", "guest"), "") << "only the first field may leave out its key";
  EXPECT_EQ(ListValue("web", "uuid", ""), "");
  EXPECT_EQ(ListValue("myguest=web,guests=x", "guest", "guest"), "");
}

TEST(SmbiosUuid, TypeOne_HasTheUuid) {
  EXPECT_EQ(SmbiosUuid(Strings{"kvm", "-smbios", "type=0,uuid=no", "-smbios", "type=1,uuid=ab,serial=x"}), "ab");
  EXPECT_EQ(SmbiosUuid(Strings{"kvm", "-smbios", "type=1,serial=x", "-smbios", "uuid=ab,type=1"}), "ab");
}

TEST(SmbiosUuid, NoTypeOne_IsEmpty) {
  EXPECT_EQ(SmbiosUuid(Strings{}), "");
  EXPECT_EQ(SmbiosUuid(Strings{"kvm", "-smbios"}), "");
  EXPECT_EQ(SmbiosUuid(Strings{"kvm", "-smbios", "type=2,uuid=ab"}), "");
  EXPECT_EQ(SmbiosUuid(Strings{"kvm", "type=1,uuid=ab"}), "");
}

}  // namespace
}  // namespace kepler::workload::hypervisor
