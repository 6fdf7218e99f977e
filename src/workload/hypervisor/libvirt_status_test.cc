#include "workload/hypervisor/libvirt_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace kepler::workload::hypervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As libvirtd 9.0 of Debian 12 wrote it of a domain that QEMU emulated.
std::string Recorded() {
  std::ifstream file(KEPLER_LIBVIRT "/libvirt_9.0_status.xml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ErrorOf(std::string_view xml) {
  const auto domain = ParseLibvirtStatus(xml);
  if (domain) return "none: " + domain->name;
  EXPECT_EQ(domain.error().kind, ErrorKind::kMalformed);
  return domain.error().message;
}

TEST(ParseLibvirtStatus, Recorded_HasPidNameAndUuid) {
  const auto domain = ParseLibvirtStatus(Recorded());
  ASSERT_TRUE(domain) << domain.error().message;
  EXPECT_EQ(domain->pid, 436);
  EXPECT_EQ(domain->name, "web-01 prod");
  EXPECT_EQ(domain->uuid, "7f1d3c52-0d5b-4c3e-9f0a-2b7c6d8e9f10");
}

TEST(ParseLibvirtStatus, EscapedName_IsUnescaped) {
  const auto domain = ParseLibvirtStatus(
      "<domstatus pid='7'><domain><name>a&amp;b &lt;c&gt; &#252;</name><uuid>u</uuid></domain></domstatus>");
  ASSERT_TRUE(domain);
  EXPECT_EQ(domain->name, "a&b <c> \xc3\xbc");
}

TEST(ParseLibvirtStatus, PartMissing_SaysWhich) {
  EXPECT_THAT(ErrorOf("<domain><name>a</name></domain>"), HasSubstr("it has no <domstatus>"));
  EXPECT_THAT(ErrorOf("<domstatus><domain><name>a</name><uuid>u</uuid></domain></domstatus>"), HasSubstr("pid"));
  for (const std::string pid : {"0", "-1", "x", "99999999999", " 1"})
    EXPECT_THAT(ErrorOf("<domstatus pid='" + pid + "'/>"), HasSubstr("pid")) << pid;
  EXPECT_THAT(ErrorOf("<domstatus pid='1'/>"), HasSubstr("<name>"));
  EXPECT_THAT(ErrorOf("<domstatus pid='1'><domain><name/></domain></domstatus>"), HasSubstr("<name>"));
  EXPECT_THAT(ErrorOf("<domstatus pid='1'><domain><name>a</name></domain></domstatus>"), HasSubstr("<uuid>"));
}

TEST(ParseLibvirtStatus, NoXml_SaysWhere) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("at byte 0"));
  EXPECT_THAT(ErrorOf("not XML"), HasSubstr("not the state of a libvirt domain"));
  EXPECT_THAT(ErrorOf("<domstatus pid='1'><domain></domstatus>"), HasSubstr("at byte 2"));
}

TEST(ParseLibvirtStatus, Truncated_IsMalformed) {
  const std::string whole = Recorded();
  const size_t end = whole.find("</domstatus>");
  ASSERT_NE(end, std::string::npos);
  for (size_t size = 0; size < end + 12; ++size)
    ASSERT_FALSE(ParseLibvirtStatus(std::string_view(whole).substr(0, size))) << size;
}

TEST(ParseLibvirtStatus, EntityOfADocumentType_IsNotExpanded) {
  const auto domain = ParseLibvirtStatus(
      "<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
      "<domstatus pid='1'><domain><name>&a;</name><uuid>u</uuid></domain></domstatus>");
  ASSERT_TRUE(domain);
  EXPECT_EQ(domain->name, "&a;");
}

TEST(ParseLibvirtStatus, NestedAsDeepAsItMayBeLong_IsMalformed) {
  std::string deep;
  while (deep.size() + 3 < kMaxLibvirtStatusBytes) deep += "<a>";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("at byte"));
}

TEST(ParseLibvirtStatus, TooLong_IsMalformed) {
  std::string xml = "<domstatus pid='1'><domain><name>a</name><uuid>u</uuid></domain></domstatus>";
  xml.resize(kMaxLibvirtStatusBytes, ' ');
  EXPECT_THAT(ErrorOf(xml), HasSubstr("it has 262144 bytes or more"));
}

TEST(LibvirtStatusPaths, SystemLauncherAndUser) {
  EXPECT_THAT(LibvirtStatusPaths("default_web", 107),
              ElementsAre("run/libvirt/qemu/default_web.xml", "run/libvirt/qemu/run/default_web.xml",
                          "run/user/107/libvirt/qemu/run/default_web.xml"));
}

}  // namespace
}  // namespace kepler::workload::hypervisor
