#include "pipeline/node_tick.h"

#include <gtest/gtest.h>
#include <time.h>

#include "energy/scripted_source.h"
#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

TEST(NodeTick, FirstTick_IsTheBaselineAndPublishesNothing) {
  TestNode node;
  node.activity.Start(0, 10, "a").cpu = milliseconds(100);
  node.Second(1000);
  EXPECT_EQ(node.Latest(), nullptr);
  node.Second(10);
  ASSERT_NE(node.Latest(), nullptr);
  EXPECT_EQ(Joules(node.Latest()->node[0].total), 10);  // energy before the agent started is unattributed
}

TEST(NodeTick, SeveralZones_TheSnapshotSaysWhichIsThePrimary) {
  TestNode node;
  energy::Script script;
  for (const char* zone : {"core", "socket"}) script.Add({zone, zone, zone, {}, {}, {}}, RawCounter{});
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.push_back(std::make_unique<energy::ScriptedSource>(script, node.clock));
  const auto meters = OpenMeters(std::move(sources), node.clock);
  NodeTick tick(NodeParts{node.activity, *meters, node.resolver, node.board, node.clock, node.proc.root()}, {});
  tick.Run(0);
  node.clock.Advance(std::chrono::seconds(1));
  tick.Run(0);
  ASSERT_NE(node.Latest(), nullptr);
  EXPECT_EQ(node.Latest()->zones[node.Latest()->primary].name, "socket");
}

TEST(NodeTick, ZoneAppears_StartsAtZeroAndTheOthersGoOn) {
  TestNode node;
  energy::Script script;
  script.Add({"package", "/p", "package@0", {}, {}, {}}, RawCounter{0});
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.push_back(std::make_unique<energy::ScriptedSource>(script, node.clock));
  const auto meters = OpenMeters(std::move(sources), node.clock);
  NodeTick tick(NodeParts{node.activity, *meters, node.resolver, node.board, node.clock, node.proc.root()}, {});
  node.activity.Start(0, 10, "a");
  const auto second = [&](uint64_t joules) {
    node.clock.Advance(std::chrono::seconds(10));
    for (auto& value : script.values) std::get<RawCounter>(value).microjoules += joules * 1'000'000;
    node.activity.processes[0].cpu = std::chrono::seconds(1);
    node.SetStat(++node.seconds * 1'000, 0);
    tick.Run(0);
  };
  second(0);
  second(10);
  script.Add({"psys", "/psys", "psys@0", {}, {}, {}}, RawCounter{99'000'000});
  second(20);
  ASSERT_EQ(node.Latest()->zones.size(), 2u);
  EXPECT_EQ(node.Latest()->node[1].total, Energy()) << "earlier energy is unattributed";
  second(30);
  const auto s = node.Latest();
  EXPECT_EQ(Joules(s->node[0].total), 60);
  EXPECT_EQ(Joules(s->node[1].total), 30);
  ASSERT_EQ(s->processes.rows(), 1u);
  EXPECT_EQ(Joules(s->processes.energy_at(0, 0)), 60);
  EXPECT_EQ(Joules(s->processes.energy_at(0, 1)), 30);
  ASSERT_EQ(s->domains.size(), 2u);
  EXPECT_EQ(s->domains[1].known, 1u);
  EXPECT_EQ(s->domains[1].read, 1u);
  ExpectConserved(*s);
}

TEST(NodeTick, ProcessorsComeAndGo_TheirListFollows) {
  TestNode node;
  const auto list = [&] {
    std::string text;
    for (const auto& cpu : *node.Latest()->cpus) text += cpu.processor + " ";
    return text;
  };
  node.proc.Write("cpuinfo", "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\nmodel name\t: x\n");
  node.Second(0);
  node.Second(1);
  EXPECT_EQ(list(), "0 1 ");
  node.proc.Write("cpuinfo", "processor\t: 0\nmodel name\t: x\n");
  node.Second(1);
  EXPECT_EQ(list(), "0 1 ") << "read only when other processors are online: the text is long";
  node.online = "cpu2 1 0 0 1 0 0 0 0 0 0\n";
  node.proc.Write("cpuinfo", "processor\t: 0\n\nprocessor\t: 2\n");
  node.Second(1);
  EXPECT_EQ(list(), "0 2 ");
  node.online.clear();
  node.proc.Remove("cpuinfo");
  node.Second(1);
  EXPECT_EQ(list(), "0 2 ") << "the former list is nearer to the truth than none";
}

TEST(NodeTick, BusyProcess_GetsTheActiveEnergy) {
  TestNode node;
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(400));
  const auto s = node.Latest();
  EXPECT_EQ(s->interval, std::chrono::seconds(1));
  EXPECT_DOUBLE_EQ(s->usage_ratio.value(), 0.5);
  EXPECT_EQ(Joules(s->node[0].active), 5);
  EXPECT_EQ(Joules(s->node[0].idle), 5);
  ASSERT_EQ(s->processes.rows(), 1u);
  EXPECT_EQ(Joules(s->processes.energy_at(0, 0)), 5);
  EXPECT_DOUBLE_EQ(s->processes.watts_at(0, 0), 5.0);
  ExpectConserved(*s);
}

TEST(NodeTick, ProcessMovesToAnotherContainer_JoulesStayBehind) {
  TestNode node;
  node.activity.Start(0, 10, "a", kBox);
  node.Second(0);
  node.Second(20, 0, milliseconds(400));
  auto& moved = node.activity.Start(0, 10, "a", kOther);
  moved.version = 2;
  moved.cpu = milliseconds(400);
  node.activity.living = Cgroups({kBox, kOther});
  node.Second(8);
  const auto s = node.Latest();
  ASSERT_EQ(s->containers.rows(), 2u);
  for (size_t row = 0; row < 2; ++row)
    EXPECT_EQ(Joules(s->containers.energy_at(row, 0)), s->containers.identity[row]->id[0] == 'a' ? 10 : 4);
  ASSERT_EQ(s->processes.rows(), 1u);
  EXPECT_EQ(s->processes.identity[0]->container_id[0], 'b');
  EXPECT_EQ(Joules(s->processes.energy_at(0, 0)), 4);
  EXPECT_EQ(Unlisted0(*s, Level::kProcess, Unlisted::kDeparted), 10);
  ExpectConserved(*s);
}

TEST(NodeTick, ProcessOfAPod_ItsEnergyIsTheContainersAndThePods) {
  const std::string pod = "/kubepods/burstable/pod152bb6d4-0ddf-4332-848a-0095e4e2dadd";
  TestNode node;
  node.activity.Start(0, 10, "a", pod + "/" + std::string(64, 'a'));
  node.activity.Start(1, 11, "pause", pod);
  node.Second(0);
  node.activity.processes[0].cpu = milliseconds(300);
  node.Second(8, 1, milliseconds(100));
  const auto s = node.Latest();
  ASSERT_EQ(s->pods.rows(), 1u);
  EXPECT_EQ(s->pods.identity[0]->id, "152bb6d4-0ddf-4332-848a-0095e4e2dadd");
  EXPECT_EQ(Joules(s->pods.energy_at(0, 0)), 4);
  ASSERT_EQ(s->containers.rows(), 1u);
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 3);
  ExpectConserved(*s);
}

TEST(NodeTick, ContainerWithCgroupButNoProcess_KeepsRunning) {
  TestNode node;
  node.activity.Start(0, 10, "a", kBox).cpu = milliseconds(1);
  node.activity.living = Cgroups({kBox});
  node.Second(0);
  node.Second(100, 0, milliseconds(400));
  node.activity.Exit(0);
  node.Second(0);
  EXPECT_EQ(node.Latest()->containers.state[0], snapshot::State::kRunning);
  node.activity.living.clear();
  node.Second(0);
  EXPECT_EQ(node.Latest()->containers.state[0], snapshot::State::kTerminated);
  EXPECT_EQ(Joules(node.Latest()->containers.energy_at(0, 0)), 50);
  ExpectConserved(*node.Latest());
}

TEST(NodeTick, ResidualOfAContainer_IsUnseenThereAndItsEnergy) {
  TestNode node;
  node.Second(0);
  node.activity.residuals = {{kBox, milliseconds(100)}};
  node.Second(10);
  const auto s = node.Latest();
  ASSERT_EQ(s->containers.rows(), 1u);
  EXPECT_EQ(s->containers.identity[0]->runtime, "docker");
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 5);
  EXPECT_EQ(Unlisted0(*s, Level::kProcess, Unlisted::kUnseen), 5);
  ExpectConserved(*s);
}

TEST(NodeTick, InvalidUtf8AndLongNames_BecomeBoundedLabels) {
  TestNode node;
  auto& process = node.activity.Start(0, 10, "caf\xC3");
  process.info.exe = "/" + std::string(4096, 'x');
  node.Second(0);
  node.Second(1);
  const auto& identity = *node.Latest()->processes.identity[0];
  EXPECT_EQ(identity.comm, "caf\xEF\xBF\xBD");
  EXPECT_EQ(identity.exe.size(), 255u);
}

TEST(NodeTick, ProcessesCannotBeListed_EnergyIsUnattributedAndCounted) {
  TestNode node;
  node.activity.Start(0, 10, "a", kBox);
  node.Second(0);
  node.activity.broken = true;
  node.Second(10);
  const auto s = node.Latest();
  EXPECT_EQ(Joules(s->unattributed[0]), 5);
  EXPECT_EQ(s->pipeline.failed_ticks, 1u);
  ExpectConserved(*s);
  node.activity.broken = false;
  node.Second(10, 0, milliseconds(400));
  EXPECT_EQ(Joules(node.Latest()->processes.energy_at(0, 0)), 5);
  ASSERT_EQ(node.Latest()->containers.rows(), 1u);
  EXPECT_EQ(node.Latest()->containers.state[0], snapshot::State::kRunning);
  ExpectConserved(*node.Latest());
}

TEST(NodeTick, ContainerGoneAndBackWithItsCgroupOnly_RunsAgain) {
  TestNode node;
  node.activity.Start(0, 10, "a", kBox).cpu = milliseconds(1);
  node.Second(0);
  node.Second(100, 0, milliseconds(400));
  node.activity.Exit(0);
  node.Second(0);
  EXPECT_EQ(node.Latest()->containers.state[0], snapshot::State::kTerminated);
  node.activity.living = Cgroups({kBox});
  node.Second(0);
  EXPECT_EQ(node.Latest()->containers.state[0], snapshot::State::kRunning);
}

TEST(NodeTick, SecondScanWithinOneClockTick_KeepsTheRatio) {
  TestNode node;
  node.Second(0);
  node.Second(10);
  node.clock.Advance(milliseconds(2));
  node.tick->Run(0);
  EXPECT_DOUBLE_EQ(node.Latest()->usage_ratio.value(), 0.5);
}

TEST(NodeTick, ProcStatUnreadable_LastRatioIsUsed) {
  TestNode node;
  node.Second(0);
  node.Second(10);
  node.proc.Remove("stat");
  node.clock.Advance(std::chrono::seconds(1));
  node.counter += 10'000'000;
  node.tick->Run(0);
  EXPECT_EQ(Joules(node.Latest()->node[0].active), 10);
}

TEST(NodeTick, ScanThatTakesLong_NothingIsOlderThanItsTimestamp) {
  TestNode node;
  node.Second(10);
  WallTime begin{};
  node.activity.while_scanning = [&] {
    begin = node.clock.Wall();
    node.clock.Advance(std::chrono::milliseconds(300));
  };
  node.Second(10);
  EXPECT_EQ(node.Latest()->taken_at, begin);
  EXPECT_EQ(node.Latest()->taken_boot, node.clock.Now());
  node.activity.while_scanning = {};
  node.Second(10);
  EXPECT_EQ(node.Latest()->pipeline.tick_time, milliseconds(300));
}

TEST(NodeTick, FailedReads_AreThoseOfTheSourceAndOfTheResolver) {
  TestNode node;
  node.proc.Write("10/status", "Uid:\t0\t0\t0\t0\n");
  node.proc.MakeDir("10/cmdline");  // opens and does not read
  node.activity.Start(0, 10, "qemu-system-x86").info.exe = "/usr/bin/qemu-system-x86_64";
  node.activity.current.failed_reads = 3;
  node.Second(10);
  node.Second(10);
  EXPECT_EQ(node.Latest()->activity.failed_reads, 3 + node.resolver.reads_failed());
  EXPECT_GT(node.resolver.reads_failed(), 0u);
}

TEST(NodeTick, CpuTimeOfTheTicks_IsWhatTheirThreadUsed) {
  TestNode node;
  const auto clock = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
  };
  const Nanoseconds begin = clock();
  node.activity.while_scanning = [&] {
    for (const Nanoseconds since = clock(); clock() - since < milliseconds(5);) {
    }
  };
  for (int second = 0; second < 4; ++second) node.Second(1);
  const Nanoseconds reported = node.Latest()->pipeline.tick_cpu;  // of the three ticks before that one
  EXPECT_GE(reported, milliseconds(15));
  EXPECT_LE(reported, clock() - begin);
}

TEST(NodeTick, WallClockJumps_OnlyTheTimestampsFollow) {
  TestNode node({std::chrono::seconds(3), Energy::Joules(1), 500});
  node.activity.Start(0, 10, "a");
  node.activity.Start(1, 11, "b");
  node.Second(0);
  node.Second(10, 1, milliseconds(400));
  node.activity.Exit(1);  // listed for three seconds from here, whatever the wall clock says
  for (const auto jump : {std::chrono::hours(24 * 365), -std::chrono::hours(24 * 400)}) {
    const WallTime before = node.Latest()->taken_at;
    node.clock.JumpWall(jump);
    node.activity.processes[0].cpu = milliseconds(400);
    node.Second(10);
    const auto s = node.Latest();
    EXPECT_EQ(s->taken_at, before + std::chrono::seconds(1) + jump);
    EXPECT_EQ(s->taken_boot, node.clock.Now());
    EXPECT_EQ(s->interval, std::chrono::seconds(1));
    EXPECT_DOUBLE_EQ(s->node[0].power.watts(), 10.0);
    EXPECT_TRUE(s->node[0].fresh);
    EXPECT_DOUBLE_EQ(s->processes.watts_at(0, 0), 5.0);
    EXPECT_EQ(s->processes.rows(), 2U);
    EXPECT_EQ(s->sources[0].rejected_readings, 0U);
    ExpectConserved(*s);
  }
  for (int i = 0; i < 2; ++i) node.Second(0);
  EXPECT_EQ(node.Latest()->processes.rows(), 1U);
  EXPECT_EQ(Joules(node.Latest()->node[0].total), 30);
}

TEST(NodeTick, WallClockJumps_StartTimesStayAndNewOnesAreOfTheNewClock) {
  TestNode node;
  const auto start_of = [&](size_t row) {
    const auto s = node.Latest();
    return s->StartOf(s->processes.begin_of(row));
  };
  node.activity.Start(0, 10, "a");
  node.Second(0);
  const WallTime baseline = node.clock.Wall();
  node.Second(10);
  EXPECT_EQ(start_of(0), baseline);
  const WallTime agent = node.Latest()->StartOf({});
  EXPECT_LE(agent, baseline);
  for (activity::Slot slot = 1; slot <= 2; ++slot) {
    node.clock.JumpWall(slot == 1 ? std::chrono::hours(24) : -std::chrono::hours(48));
    const WallTime latest = node.clock.Wall();
    node.activity.Start(slot, 50 + static_cast<int32_t>(slot), "b");
    node.Second(10);
    ASSERT_EQ(node.Latest()->processes.rows(), slot + 1);
    EXPECT_EQ(start_of(slot), latest) << "the new clock's time of the last tick";
    EXPECT_EQ(start_of(0), baseline);
    EXPECT_EQ(node.Latest()->StartOf({}), agent);
  }
  node.Second(10);
  EXPECT_EQ(start_of(1), baseline + std::chrono::seconds(1) + std::chrono::hours(24));
}

TEST(NodeTick, ReadersHoldAllSnapshots_NothingIsLost) {
  TestNode node;
  node.activity.Start(0, 10, "a");
  node.Second(0);
  std::vector<std::shared_ptr<const snapshot::Snapshot>> held;
  for (int i = 0; i < 5; ++i) {
    node.activity.processes[0].cpu = milliseconds(400);
    node.Second(10);
    held.push_back(node.Latest());
  }
  EXPECT_EQ(Joules(held.back()->node[0].total), 30);  // three snapshots exist, the readers keep them
  held.clear();
  node.Second(0);
  EXPECT_EQ(Joules(node.Latest()->node[0].total), 50);
  EXPECT_EQ(node.Latest()->pipeline.unpublished, 2u);
  EXPECT_EQ(Joules(node.Latest()->processes.energy_at(0, 0)), 25);
}

TEST(NodeTick, ReadingASnapshot_ChangesNothingForOthers) {
  TestNode node({std::chrono::minutes(2), Energy::Joules(1), 500});
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(400));
  node.activity.Exit(0);
  for (int reader = 0; reader < 100; ++reader) {
    node.Second(0);
    const auto s = node.Latest();
    ASSERT_EQ(s->processes.rows(), 1u);
    EXPECT_EQ(s->processes.state[0], snapshot::State::kTerminated);
  }
}

}  // namespace
}  // namespace kepler::pipeline
