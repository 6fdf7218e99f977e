#include "http/grpc/framing.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::http::grpc {
namespace {

std::string Framed(uint32_t size, bool is_compressed, const std::string& message) {
  const auto prefix = PrefixOf(size, is_compressed);
  return std::string(prefix.data(), prefix.size()) + message;
}
// "hello hello hello hello\n", by gzip -n.
constexpr uint8_t kMember[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9,
                               0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};
const std::string kGzip(reinterpret_cast<const char*>(kMember), sizeof(kMember));

TEST(GrpcMessage, PrefixIsBigEndian) {
  EXPECT_EQ(Framed(0x01020304, true, ""), "\x01\x01\x02\x03\x04");
  EXPECT_EQ(Framed(0xF0, false, ""), std::string("\0\0\0\0\xF0", 5));
}

TEST(GrpcMessage, OneMessage_IsItsBytes) {
  EXPECT_EQ(ReadOnlyMessage(Framed(4, false, "pong"), "", 4).value_or("?"), "pong");
  EXPECT_EQ(ReadOnlyMessage(Framed(4, false, "pong"), "gzip", 4).value_or("?"), "pong");
  EXPECT_EQ(ReadOnlyMessage(Framed(0, false, ""), "", 0).value_or("?"), "");
}

TEST(GrpcMessage, CompressedMessage_IsDecompressed) {
  const std::string body = Framed(static_cast<uint32_t>(kGzip.size()), true, kGzip);
  EXPECT_EQ(ReadOnlyMessage(body, "gzip", 24).value_or("?"), "hello hello hello hello\n");
  for (const std::string encoding : {"", "identity", "deflate"}) EXPECT_FALSE(ReadOnlyMessage(body, encoding, 24));
  EXPECT_FALSE(ReadOnlyMessage(body, "gzip", 23)) << "the limit holds for the plain message";
}

TEST(GrpcMessage, OtherBodies_AreMalformed) {
  for (const std::string& body :
       {std::string(), std::string("\0\0\0\0", 4), Framed(5, false, "pong"), Framed(3, false, "pong"),
        Framed(4, false, "pong") + Framed(4, false, "pong"), "\x02" + Framed(4, false, "pong").substr(1)}) {
    const auto read = ReadOnlyMessage(body, "gzip", 100);
    ASSERT_FALSE(read) << body.size();
    EXPECT_EQ(read.error().kind, ErrorKind::kMalformed);
  }
  EXPECT_FALSE(ReadOnlyMessage(Framed(5, false, "large"), "", 4));
}

}  // namespace
}  // namespace kepler::http::grpc
