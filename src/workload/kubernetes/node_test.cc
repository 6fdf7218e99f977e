#include "workload/kubernetes/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::workload::kubernetes {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

TEST(IsNodeName, SubdomainsOfRfc1123) {
  for (const std::string name : {"n", "0", "node-1", "ip-10-0-0-1.eu-west-1.compute.internal", "a--b"})
    EXPECT_TRUE(IsNodeName(name)) << name;
  EXPECT_TRUE(IsNodeName(std::string(253, 'n')));
}

TEST(IsNodeName, WhatKubernetesNeverHas) {
  for (const std::string name : {"", "N1", "n1_upper", "-n", "n-", ".n", "n.", "a..b", "a.-b", "a/b", "a?b", "a b",
                                 "..%2f", "a\n", "\xc3\xbc", "n:1"})
    EXPECT_FALSE(IsNodeName(name)) << name;
  EXPECT_FALSE(IsNodeName(std::string("a\0b", 3)));
  EXPECT_FALSE(IsNodeName(std::string(254, 'n')));
}

TEST(ParseNode, FirstInternalIpAndThePort) {
  const auto kubelet = ParseNode(R"({"kind":"Node","status":{"addresses":[{"type":"ExternalIP","address":"1.2.3.4"},
    {"type":"InternalIP","address":"10.0.0.7"},{"type":"InternalIP","address":"fd00::7"}],
    "daemonEndpoints":{"kubeletEndpoint":{"Port":10251}}}})");
  ASSERT_TRUE(kubelet) << kubelet.error().message;
  EXPECT_EQ(*kubelet, (KubeletAddress{"10.0.0.7", 10251}));
}

TEST(ParseNode, NoUsablePort_IsTheUsualOne) {
  for (const std::string port : {"", R"(,"daemonEndpoints":{})", R"(,"daemonEndpoints":{"kubeletEndpoint":{"Port":0}})",
                                 R"(,"daemonEndpoints":{"kubeletEndpoint":{"Port":"x"}})",
                                 R"(,"daemonEndpoints":{"kubeletEndpoint":{"Port":70000}})"}) {
    const auto kubelet =
        ParseNode(R"({"kind":"Node","status":{"addresses":[{"type":"InternalIP","address":"10.0.0.7"}])" + port + "}}");
    ASSERT_TRUE(kubelet) << port;
    EXPECT_EQ(kubelet->port, 10250);
  }
}

TEST(ParseNode, WhatIsNoNode) {
  EXPECT_THAT(ParseNode(R"({"kind":"Status"})").error().message, HasSubstr("kind is not Node"));
  for (const char* text : {R"({"kind":"Node"})", R"({"kind":"Node","status":{"addresses":7}})",
                           R"({"kind":"Node","status":{"addresses":[7,{"type":7}]}})"})
    EXPECT_THAT(ParseNode(text).error().message, HasSubstr("no InternalIP")) << text;
  for (const char* text : {"", "{", "[]", "7", "\xff"}) EXPECT_FALSE(ParseNode(text)) << text;
}

std::string NodeAt(const std::string& ip, const std::string& name) {
  return R"({"kind":"Node","status":{"addresses":[{"type":"InternalIP","address":")" + ip +
         R"("},{"type":"Hostname","address":")" + name + R"("}]}})";
}

TEST(ParseNode, AddressesAndHostNames_Pass) {
  for (const std::string& host : {"10.0.0.7"s, "fd00::7"s, "Node_1.example-2.com"s, std::string(253, 'n')})
    EXPECT_TRUE(ParseNode(NodeAt(host, host))) << host;
}

TEST(ParseNode, WhatIsNoAddress_IsRefusedInABoundedError) {
  for (const std::string& host : {"127.0.0.1\\r\\nX-Evil: 1"s, "a\\u0000b"s, "a/b"s, "a b"s, "u@h"s, "\xc3\xbc"s,
                                  std::string(254, 'n'), std::string(1'500'000, 'n')}) {
    const auto ip = ParseNode(NodeAt(host, "n1"));
    ASSERT_FALSE(ip) << host.substr(0, 64);
    EXPECT_THAT(ip.error().message, HasSubstr("its InternalIP \"" + host.substr(0, 1)));
    EXPECT_LT(ip.error().message.size(), 300u);
    EXPECT_FALSE(ip.error().message.contains('\n'));
    const auto name = ParseNode(NodeAt("10.0.0.7", host));
    ASSERT_FALSE(name) << host.substr(0, 64);
    EXPECT_THAT(name.error().message, HasSubstr("its Hostname \""));
  }
}

TEST(MessageOf, StatusObjects_AndPlainText) {
  EXPECT_EQ(MessageOf(R"({"kind":"Status","message":"nodes \"x\" not found","code":404})"), "nodes \"x\" not found");
  EXPECT_EQ(MessageOf("Unauthorized\n"), "Unauthorized");
  EXPECT_EQ(MessageOf(""), "");
  EXPECT_LE(MessageOf(std::string(5000, 'x')).size(), 300u);
  EXPECT_EQ(MessageOf("a\nb").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
