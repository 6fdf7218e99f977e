#include "base/avx.h"

#include <gtest/gtest.h>

#include <string>

#include "base/gunzip.h"
#include "base/gzip_stream.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

namespace kepler {
namespace {

/// Returns true if the upper halves are in use: XINUSE, bit 2 (Intel SDM volume 1, 13.6).
[[gnu::target("xsave")]] bool UpperHalvesInUse() { return (_xgetbv(1) & 4U) != 0; }

bool CpuReportsUse() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") && __get_cpuid_count(0xD, 1, &a, &b, &c, &d) != 0 && (a & 4U) != 0 &&
         ClearAvxAfter(true) && !UpperHalvesInUse();
}

TEST(Avx, UpperHalves_AreClearAfterEachCallOfIsaL) {
  if (!CpuReportsUse()) GTEST_SKIP() << "this CPU does not report the use of its registers";
  const std::string plain(200'000, 'x');
  std::string gzip;
  GzipStream stream(GzipStream::Header::kWritten);
  stream.Write(plain, GzipStream::Flush::kNone, gzip);
  EXPECT_FALSE(UpperHalvesInUse());
  stream.End(gzip);
  EXPECT_FALSE(UpperHalvesInUse());
  EXPECT_EQ(Gunzip(gzip, plain.size()), plain);
  EXPECT_FALSE(UpperHalvesInUse());
}

}  // namespace
}  // namespace kepler
#endif
