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

snapshot::VmMetadata MetadataOf(const std::string& inside) {
  const auto domain = ParseLibvirtStatus("<domstatus pid='7'><domain><name>instance-00000042</name><uuid>u</uuid>" +
                                         inside + "</domain></domstatus>");
  EXPECT_TRUE(domain) << domain.error().message;
  return domain ? domain->metadata : snapshot::VmMetadata{};
}

/// As nova 16 writes it.
constexpr std::string_view kNova = R"(<metadata>
    <nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.0">
      <nova:package version="16.0.2-9.el7ost"/>
      <nova:name>shop &amp; web &#x4E3B;</nova:name>
      <nova:creationTime>2018-04-16 12:50:16</nova:creationTime>
      <nova:flavor name="1G/1&#x6838;"><nova:memory>1024</nova:memory><nova:vcpus>1</nova:vcpus></nova:flavor>
      <nova:owner>
        <nova:user uuid="5a86b1db33b64571953b2022186010fe">anna</nova:user>
        <nova:project uuid="995b4947cc4044fba99bade057053803">team shop</nova:project>
      </nova:owner>
      <nova:root type="image" uuid="c11a1c31-f703-4ae6-a689-5a6b9a624625"/>
    </nova:instance></metadata>)";
const snapshot::VmMetadata kShop{.instance_name = "shop & web \xE4\xB8\xBB",
                                 .flavor = "1G/1\xE6\xA0\xB8",
                                 .project_id = "995b4947cc4044fba99bade057053803",
                                 .project_name = "team shop",
                                 .user_name = "anna"};

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(ParseLibvirtStatus, Nova_HasInstanceFlavorProjectAndUser) {
  EXPECT_EQ(MetadataOf(std::string(kNova)), kShop);
  EXPECT_EQ(MetadataOf("<title>other</title>" + std::string(kNova)), kShop) << "the name of OpenStack counts";
}

TEST(ParseLibvirtStatus, Nova_VersionAndPrefixMayDiffer) {
  const std::string nova(kNova);
  EXPECT_EQ(MetadataOf(Replaced(nova, "nova/1.0", "nova/1.1")), kShop);
  EXPECT_EQ(MetadataOf(Replaced(Replaced(nova, "nova:", "n:"), ":nova=", ":n=")), kShop);
  EXPECT_EQ(MetadataOf(Replaced(Replaced(nova, "nova:", ""), ":nova=", "=")), kShop);
  EXPECT_EQ(MetadataOf(Replaced(
                Replaced(nova, "<metadata>", "<metadata xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'>"),
                "<nova:instance xmlns:nova=\"http://openstack.org/xmlns/libvirt/nova/1.0\">", "<nova:instance>")),
            kShop);
}

TEST(ParseLibvirtStatus, Nova_AnotherNamespaceOrNone_IsNotUsed) {
  const std::string nova(kNova);
  EXPECT_EQ(MetadataOf(Replaced(nova, "openstack.org", "example.org")), snapshot::VmMetadata{});
  EXPECT_EQ(MetadataOf(Replaced(nova, "xmlns:nova", "version")), snapshot::VmMetadata{});
  EXPECT_EQ(MetadataOf("<metadata><x:instance xmlns:x='urn:x'/>" + nova.substr(10)), kShop);
}

TEST(ParseLibvirtStatus, Nova_ManyElementsOfOthers_OnlyTheFirstEightAreRead) {
  std::string others = "<metadata>";
  for (int i = 0; i < 7; ++i) others += "<x:instance xmlns:x='urn:x'/>";
  EXPECT_EQ(MetadataOf(others + std::string(kNova.substr(10))), kShop);
  EXPECT_EQ(MetadataOf(others + "<instance/>" + std::string(kNova.substr(10))), snapshot::VmMetadata{});
}

TEST(ParseLibvirtStatus, Nova_PartsMissing_AreEmpty) {
  constexpr std::string_view kOpen =
      "<metadata><i xmlns='http://openstack.org/xmlns/libvirt/nova/1.1'/><n:instance "
      "xmlns:n='http://openstack.org/xmlns/libvirt/nova/1.1'>";
  const auto with = [&](const std::string& inside) {
    return MetadataOf(std::string(kOpen) + inside + "</n:instance></metadata>");
  };
  EXPECT_EQ(with(""), snapshot::VmMetadata{});
  EXPECT_EQ(with("<n:owner/><n:flavor/>"), snapshot::VmMetadata{});
  EXPECT_EQ(with("<name>a</name><m:name>b</m:name>"), snapshot::VmMetadata{});
  EXPECT_EQ(with("<n:owner><n:project uuid='p'/></n:owner>"), (snapshot::VmMetadata{.project_id = "p"}));
  EXPECT_EQ(MetadataOf("<title>Web shop</title>"), (snapshot::VmMetadata{.instance_name = "Web shop"}));
  EXPECT_EQ(MetadataOf("<metadata/>"), snapshot::VmMetadata{});
}

TEST(ParseLibvirtStatus, Nova_Truncated_IsMalformed) {
  const std::string whole = "<domstatus pid='7'><domain><name>a</name><uuid>u</uuid>" + std::string(kNova);
  for (size_t size = 0; size <= whole.size(); ++size) ASSERT_FALSE(ParseLibvirtStatus(whole.substr(0, size))) << size;
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
