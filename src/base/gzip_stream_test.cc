#include "base/gzip_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "base/gunzip.h"

namespace kepler {
namespace {

TEST(GzipStream, EachEndBeginsAnotherWholeText) {
  GzipStream stream(GzipStream::Header::kWritten);
  const auto text = [&](std::string_view plain) {
    std::string out;
    stream.Write(plain, GzipStream::Flush::kNone, out);
    stream.End(out);
    return out;
  };
  const std::string once = text("some text");
  EXPECT_EQ(Gunzip(once, 100), "some text");
  EXPECT_EQ(text("some text"), once);
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(Gunzip(text(large), large.size()), large);
}

TEST(GzipStream, FullFlush_PassesThePieceAtOnce) {
  GzipStream stream(GzipStream::Header::kLeftOut);
  std::string out;
  stream.Write("some text", GzipStream::Flush::kFull, out);
  EXPECT_EQ(out.substr(out.size() - 4), std::string("\0\0\xff\xff", 4)) << "the mark of a flush, RFC 1951";
}

}  // namespace
}  // namespace kepler
