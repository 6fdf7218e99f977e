// Containers whose labels have the name and the namespace of their pod.
#include <gtest/gtest.h>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

class LedgerContainerPods : public LedgerTest {
 protected:
  LedgerContainerPods() : LedgerTest({std::chrono::minutes(2), Energy(), 500}, {}, true) {
    Begin();
    pod_ = ledger_.Pod({"uid"});
    web_ = ledger_.Container({"c1", "web", "containerd", "uid"}, pod_);
    init_ = ledger_.Container({"c0", "init", "containerd", "uid"}, pod_);
    web_process_ = Process(1, {web_, kNoRow, pod_});
    init_process_ = Process(2, {init_, kNoRow, pod_});
    ledger_.UseProcess(web_process_, milliseconds(300));
    ledger_.UseProcess(init_process_, milliseconds(300));
    Settle(60);
    Begin();
    ledger_.EndProcess(init_process_);
    Tick(10);
  }
  void Tick(int64_t joules) {
    ledger_.TouchContainer(web_);
    ledger_.UseProcess(web_process_, milliseconds(300));
    Settle(joules);
  }
  /// The row of the container; its name and joules.
  [[nodiscard]] std::string Shown(std::string_view id) const {
    const auto& table = snapshot_.containers;
    std::string text;
    for (size_t row = 0; row < table.rows(); ++row)
      if (table.identity[row]->id == id)
        text += table.identity[row]->pod_namespace + "/" + table.identity[row]->pod_name + " " +
                std::to_string(Joules(table.energy_at(row, 0))) + ";";
    return text;
  }
  Row pod_ = kNoRow, web_ = kNoRow, init_ = kNoRow, web_process_ = kNoRow, init_process_ = kNoRow;
};

TEST_F(LedgerContainerPods, PodThatIsNamedLater_RunningContainersDepart_EndedOnesKeepTheirLabels) {
  EXPECT_EQ(Shown("c1"), "/ 40;");
  EXPECT_EQ(Shown("c0"), "/ 30;");
  Begin();
  ledger_.RenamePod(pod_, {"uid", "web-1", "shop"});
  Tick(10);
  EXPECT_EQ(Shown("c1"), "shop/web-1 10;");
  EXPECT_EQ(Shown("c0"), "/ 30;");
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kDeparted), 40);
}

TEST_F(LedgerContainerPods, ContainerOfANamedPod_HasItsNameFromTheBegin) {
  Begin();
  ledger_.RenamePod(pod_, {"uid", "web-1", "shop"});
  const Row more = ledger_.Container({"c2", "more", "containerd", "uid"}, pod_);
  ledger_.UseProcess(Process(3, {more, kNoRow, pod_}), milliseconds(300));
  Tick(20);
  EXPECT_EQ(Shown("c2"), "shop/web-1 10;");
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kDeparted), 40) << "only that of c1";
}

TEST_F(LedgerContainerPods, AnotherProcess_DoesNotEndTheSeries) {
  Begin();
  ledger_.RenamePod(pod_, {"uid", "web-1", "shop"});
  Tick(10);
  Begin();
  ledger_.UseProcess(Process(4, {ledger_.Container({"c1", "web", "containerd", "uid"}, pod_), kNoRow, pod_}),
                     milliseconds(300));
  Tick(20);
  EXPECT_EQ(Shown("c1"), "shop/web-1 30;");
}

TEST_F(LedgerContainerPods, PodThatLeavesFirst_TheContainerKeepsItsLabels) {
  Begin();
  ledger_.RenamePod(pod_, {"uid", "web-1", "shop"});
  Tick(10);
  Begin();
  ledger_.EndProcess(web_process_);
  Settle(0);
  for (int i = 0; i < 3; ++i) {
    Begin();
    Settle(0);
  }
  EXPECT_EQ(Shown("c1"), "shop/web-1 10;");
}

}  // namespace
}  // namespace kepler::attribution
