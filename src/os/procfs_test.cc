#include "os/procfs.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::os {
namespace {

constexpr std::string_view kStat =
    "4242 (a (weird) name) S 17 4242 4242 0 -1 4194560 1 2 3 4 150 25 9000 8000 20 0 5 0 123456 1000 200 "
    "18446744073709551615 "
    "1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

TEST(ProcessStat, CommWithParenthesesAndSpaces_EveryFieldIsRight) {
  const auto stat = ParseProcessStat(kStat);
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->pid, 4242);
  EXPECT_EQ(stat->comm, "a (weird) name");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 17);
  EXPECT_EQ(stat->flags, 4194560U);
  EXPECT_EQ(stat->utime_ticks, 150U);
  EXPECT_EQ(stat->stime_ticks, 25U) << "cutime and cstime (9000, 8000) are not part of it";
  EXPECT_EQ(stat->start_ticks, 123456U);
  EXPECT_FALSE(stat->kernel_thread());
  EXPECT_FALSE(stat->exiting());
}

TEST(ProcessStat, CommThatImitatesFields_EndsAtTheLastParenthesis) {
  const auto stat = ParseProcessStat("1 (x) R 9 9 (y\n) S 2 0 0 0 0 2097152 0 0 0 0 1 2 0 0 0 0 1 0 77 0");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->comm, "x) R 9 9 (y\n");
  EXPECT_TRUE(stat->kernel_thread());
  EXPECT_EQ(stat->start_ticks, 77U);
}

TEST(ProcessStat, ZombieOrExitingFlag_IsExiting) {
  EXPECT_TRUE(ParseProcessStat("1 (x) Z 2 0 0 0 0 0 0 0 0 0 1 2 0 0 0 0 1 0 77 0")->exiting());
  EXPECT_TRUE(ParseProcessStat("1 (x) R 2 0 0 0 0 4 0 0 0 0 1 2 0 0 0 0 1 0 77 0")->exiting());
}

TEST(ProcessStat, EmptyComm_IsEmpty) {
  const auto stat = ParseProcessStat("1 () S 2 0 0 0 0 0 0 0 0 0 1 2 0 0 0 0 1 0 77 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "");
}

TEST(ProcessStat, TruncatedAnywhereBeforeStartTime_IsMalformed) {
  const auto end = kStat.find("123456");
  for (size_t length = 0; length < end; ++length) {
    const auto stat = ParseProcessStat(kStat.substr(0, length));
    ASSERT_FALSE(stat) << length;
    EXPECT_EQ(stat.error().kind, ErrorKind::kMalformed);
  }
}

TEST(ProcessStat, Malformed_IsAnError) {
  for (const char* text : {"x (a) S 1", "1 a S 1 2", ") (", "-1 (a) S 2 0 0 0 0 0 0 0 0 0 1 2 0 0 0 0 1 0 77 0",
                           "1 (a) S 2 0 0 0 0 0 0 0 0 0 1 -2 0 0 0 0 1 0 77 0", "1 (a) SS 2", "1 (a)S 2"}) {
    EXPECT_FALSE(ParseProcessStat(text)) << text;
  }
}

TEST(CgroupLines, Hybrid_EveryLineIsParsed) {
  const auto lines = ParseCgroupLines("2:cpu,cpuacct:/a:b\n1:name=systemd:/\n0::/../x y\n");
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[0], (CgroupLine{2, "cpu,cpuacct", "/a:b"}));
  EXPECT_EQ((*lines)[1], (CgroupLine{1, "name=systemd", "/"}));
  EXPECT_EQ((*lines)[2], (CgroupLine{0, "", "/../x y"}));
}

TEST(CgroupLines, DeletedCgroup_SuffixIsDropped) {
  EXPECT_EQ(ParseCgroupLines("0::/gone (deleted)\n")->front().path, "/gone");
}

TEST(CgroupLines, Empty_HasNoLines) { EXPECT_TRUE(ParseCgroupLines("")->empty()); }

TEST(CgroupLines, FourKilobytePath_IsKept) {
  const std::string path = "/" + std::string(4095, 'p');
  EXPECT_EQ(ParseCgroupLines("0::" + path + "\n")->front().path, path);
}

TEST(CgroupLines, Malformed_IsAnError) {
  for (const char* text : {"0:/x\n", "x::/\n", "0::x\n", "0::\n", "-1::/\n", "0::/a\n\n1::/b\n", "garbage"})
    EXPECT_FALSE(ParseCgroupLines(text)) << text;
}

TEST(NsPids, OneAndMany_AreParsed) {
  EXPECT_EQ(*ParseNsPids("Name:\tx\nNSpid:\t42\nNSpgid:\t1\n"), std::vector<int32_t>{42});
  EXPECT_EQ(*ParseNsPids("NSpid:\t42\t7\t1"), (std::vector<int32_t>{42, 7, 1}));
}

TEST(NsPids, MissingOrMalformed_IsAnError) {
  EXPECT_FALSE(ParseNsPids("Name:\tx\n"));
  EXPECT_FALSE(ParseNsPids("NSpid:\tx\n"));
  EXPECT_FALSE(ParseNsPids("NSpid:\t\n"));
  EXPECT_FALSE(ParseNsPids(""));
}

TEST(RealUid, FirstOfFour_IsParsed) {
  EXPECT_EQ(*ParseRealUid("Name:\tUid:\nUid:\t1000\t0\t0\t0\nGid:\t7\t7\t7\t7\n"), 1000U);
  EXPECT_EQ(*ParseRealUid("Uid:\t4294967294"), 4294967294U);
}

TEST(RealUid, MissingMalformedOrTruncated_IsAnError) {
  for (const char* status : {"", "Name:\tx\n", "Uid:", "Uid:\t", "Uid:\tx\t0\t0\t0\n", "Uid:\t-1\t0\n",
                             "Uid:\t4294967296\t0\n", "Gid:\t0\t0\t0\t0\n"}) {
    EXPECT_FALSE(ParseRealUid(status)) << status;
  }
}

constexpr std::string_view kNetstat =
    "TcpExt: SyncookiesSent InOctets\nTcpExt: 1 2\n"
    "IpExt: InNoRoutes InOctets OutOctets InMcastOctets\nIpExt: 0 19267716527 18446744073709551615 3\n"
    "MPTcpExt: MPCapableSYNRX\nMPTcpExt: 0\n";

TEST(IpOctets, FieldsByName_AreParsed) {
  const auto octets = ParseIpOctets(kNetstat);
  ASSERT_TRUE(octets);
  EXPECT_EQ(octets->received, 19267716527U);
  EXPECT_EQ(octets->sent, UINT64_MAX);
}

TEST(IpOctets, Missing_IsAnError) {
  for (const char* text : {"", "\n", "TcpExt: InOctets OutOctets\nTcpExt: 1 2\n", "IpExt: InOctets OutOctets",
                           "IpExt: InOctets\nIpExt: 1\n", "IpExt: OutOctets\nIpExt: 1\n"})
    EXPECT_FALSE(ParseIpOctets(text)) << text;
}

TEST(IpOctets, Malformed_IsAnError) {
  for (const char* text : {"IpExt: InOctets OutOctets\nIpExt: 1\n", "IpExt: InOctets OutOctets\nIpExt: 1 x\n",
                           "IpExt: InOctets OutOctets\nIpExt: -1 2\n", "IpExt: InOctets OutOctets\nMPTcpExt: 1 2\n",
                           "IpExt: InOctets OutOctets\nIpExt: 1 18446744073709551616\n"})
    EXPECT_FALSE(ParseIpOctets(text)) << text;
}

TEST(StripDeleted, OnlyAtTheEnd_IsCutOff) {
  EXPECT_EQ(StripDeleted("/bin/x (deleted)"), "/bin/x");
  EXPECT_EQ(StripDeleted("/bin/ (deleted)/x"), "/bin/ (deleted)/x");
  EXPECT_EQ(StripDeleted(""), "");
}

TEST(HasController, PartOfAName_DoesNotMatch) {
  EXPECT_TRUE(HasController("cpu,cpuacct", "cpuacct"));
  EXPECT_FALSE(HasController("cpu,cpuacct", "cpuac"));
  EXPECT_FALSE(HasController("", "cpuacct"));
}

TEST(MemTotal, OkMissingMalformedTruncated) {
  EXPECT_EQ(*ParseMemTotal("MemTotal:       24599368 kB\nMemFree:        22 kB\n"), 24'599'368u);
  EXPECT_FALSE(ParseMemTotal("MemFree: 22 kB\n").has_value());
  EXPECT_FALSE(ParseMemTotal("").has_value());
  EXPECT_FALSE(ParseMemTotal("MemTotal: x kB\n").has_value());
  EXPECT_FALSE(ParseMemTotal("MemTotal: 1 MB\n").has_value());
  EXPECT_FALSE(ParseMemTotal("MemTotal:   245").has_value());
}

}  // namespace
}  // namespace kepler::os
