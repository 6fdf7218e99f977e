#include "workload/kubernetes/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::workload::kubernetes {
namespace {

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

TEST(MessageOf, StatusObjects_AndPlainText) {
  EXPECT_EQ(MessageOf(R"({"kind":"Status","message":"nodes \"x\" not found","code":404})"), "nodes \"x\" not found");
  EXPECT_EQ(MessageOf("Unauthorized\n"), "Unauthorized");
  EXPECT_EQ(MessageOf(""), "");
  EXPECT_LE(MessageOf(std::string(5000, 'x')).size(), 300u);
  EXPECT_EQ(MessageOf("a\nb").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
