#include "base/host_port.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler {
namespace {

std::string Split(std::string_view text) {
  const auto parts = SplitHostPort(text);
  return parts ? fmt::format("{}{}|{}", parts->host, parts->bracketed ? "]" : "", parts->port) : parts.error().message;
}

TEST(SplitHostPort, Forms_AreSplit) {
  EXPECT_EQ(Split(":28282"), "|28282");
  EXPECT_EQ(Split("127.0.0.1:1"), "127.0.0.1|1");
  EXPECT_EQ(Split("[::1]:0"), "::1]|0");
  EXPECT_EQ(Split("localhost:http"), "localhost|http");
  EXPECT_EQ(Split("host:"), "host|");
  EXPECT_EQ(Split("[]:1"), "]|1");
}

TEST(SplitHostPort, OtherForms_SayWhatIsWrong) {
  for (const char* text : {"", "28282", "host", "[::1]", "[::1]8", "[]"})
    EXPECT_EQ(Split(text), "the port is missing") << text;
  EXPECT_EQ(Split("[::1:80"), "\"]\" is missing");
  for (const char* text : {"::1:80", "::", "[::1]:80:", "a:b:c"})
    EXPECT_EQ(Split(text), "an IPv6 address needs brackets: [::1]:28282") << text;
}

}  // namespace
}  // namespace kepler
