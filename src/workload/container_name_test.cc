#include "workload/container_name.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace kepler::workload {
namespace {

std::string_view Environment(std::vector<std::string_view> strings) { return ContainerNameOfEnvironment(strings); }
std::string_view Arguments(std::vector<std::string_view> strings) { return ContainerNameOfArguments(strings); }

TEST(ContainerNameOfEnvironment, BothKeys_FirstInOrderWins) {
  EXPECT_EQ(Environment({"PATH=/bin", "HOSTNAME=web", "CONTAINER_NAME=db"}), "web");
  EXPECT_EQ(Environment({"CONTAINER_NAME=db", "HOSTNAME=web"}), "db");
}

TEST(ContainerNameOfEnvironment, EmptyValue_NextCounts) {
  EXPECT_EQ(Environment({"HOSTNAME=", "CONTAINER_NAME=db"}), "db");
}

TEST(ContainerNameOfEnvironment, NeitherKey_NoName) {
  EXPECT_EQ(Environment({}), "");
  EXPECT_EQ(Environment({"MY_HOSTNAME=a", "HOSTNAMES=b", "HOSTNAME", "hostname=c", " HOSTNAME=d", ""}), "");
}

TEST(ContainerNameOfEnvironment, AnyBytes_PassThrough) {
  EXPECT_EQ(Environment({"HOSTNAME=a=\"b\"\n\xff"}), "a=\"b\"\n\xff");
}

TEST(ContainerNameOfArguments, NameOption_IsTheName) {
  EXPECT_EQ(Arguments({"burn", "--name=web", "--name=late"}), "web");
  EXPECT_EQ(Arguments({"burn", "-v", "--name", "web"}), "web");
  EXPECT_EQ(Arguments({"burn", "--name=a=b\n\xff"}), "a=b\n\xff");
}

TEST(ContainerNameOfArguments, OtherOptions_NoName) {
  EXPECT_EQ(Arguments({}), "");
  EXPECT_EQ(Arguments({""}), "");
  EXPECT_EQ(Arguments({"burn", "--name"}), "");
  EXPECT_EQ(Arguments({"burn", "--names=a", "--namespace", "b", "-name=c", "name=d"}), "");
  EXPECT_EQ(Arguments({"--name=program", "x"}), "");
}

TEST(ContainerNameOfArguments, FirstShims_ThirdArgument) {
  EXPECT_EQ(Arguments({"/usr/bin/docker-containerd-shim", "id", "/run/bundle", "web"}), "web");
  EXPECT_EQ(Arguments({"containerd-shim", "id", "/run/bundle", "web"}), "web");
  EXPECT_EQ(Arguments({"containerd-shim", "id", "/run/bundle"}), "");
}

TEST(ContainerNameOfArguments, LaterShims_NoName) {
  EXPECT_EQ(Arguments({"/usr/bin/containerd-shim-runc-v2", "-namespace", "moby", "-id", "x"}), "");
  EXPECT_EQ(Arguments({"containerd-shim", "-namespace", "moby", "-id", "x"}), "");
}

}  // namespace
}  // namespace kepler::workload
