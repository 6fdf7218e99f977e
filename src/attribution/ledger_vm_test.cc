// A VM is (hypervisor, id, owner): which account it has, and what becomes of the sums.
#include <gtest/gtest.h>

#include "attribution/ledger.h"
#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::State;
using snapshot::Unlisted;
using std::chrono::milliseconds;

const snapshot::VmIdentity kWebVm{"7f1d", "web", "kvm"};
const snapshot::VmIdentity kFalseWeb{"7f1d", "false", "kvm"};
const VmOwner kOwner{1000, "/machine.slice/a.scope"};
const VmOwner kOther{1001, "/user.slice"};
const VmOwner kNextScope{1000, "/machine.slice/b.scope"};

class LedgerVm : public LedgerTest {
 protected:
  Row InVm(int32_t pid, Row vm) { return Process(pid, {kNoRow, vm, kNoRow}); }
  /// A process in the VM of kOwner that has used 20 J.
  Row Run() {
    Begin();
    const Row process = InVm(1, ledger_.Vm(kWebVm, kOwner));
    ledger_.UseProcess(process, milliseconds(100));
    Settle(20);
    return process;
  }
  void ExpectOneVm(int64_t joules, State state, const std::string& name) {
    ASSERT_EQ(snapshot_.vms.rows(), 1U);
    EXPECT_EQ(Joules(snapshot_.vms.energy_at(0, 0)), joules);
    EXPECT_EQ(snapshot_.vms.state[0], state);
    EXPECT_EQ(snapshot_.vms.identity[0]->name, name);
  }
};

TEST_F(LedgerVm, SameOwner_IsTheSameVm) {
  const Row process = Run();
  Begin();
  const Row vm = ledger_.Vm(kWebVm, kOwner);
  EXPECT_EQ(vm, ledger_.processes().groups(process).vm);
  ledger_.UseProcess(process, milliseconds(100));
  ledger_.UseProcess(InVm(2, vm), milliseconds(300));
  Settle(40);
  ExpectOneVm(60, State::kRunning, "web");
}

TEST_F(LedgerVm, MetadataUnreadableLater_IsKept) {
  snapshot::VmIdentity shop = kWebVm;
  shop.metadata.project_name = "shop";
  Begin();
  const Row vm = ledger_.Vm(shop, kOwner);
  ledger_.UseProcess(InVm(1, vm), milliseconds(100));
  Settle(20);
  Begin();
  EXPECT_EQ(ledger_.Vm(kWebVm, kOwner), vm);
  Settle(0);
  ExpectOneVm(20, State::kRunning, "web");
  EXPECT_EQ(*snapshot_.vms.identity[0], shop);
}

TEST_F(LedgerVm, EndedInThisTick_LastSliceIsTheOldOnesAndTheNewOneStartsAtZero) {
  const Row process = Run();
  Begin();
  ledger_.UseProcess(process, milliseconds(100));
  ledger_.EndProcess(process);
  const Row vm = ledger_.Vm(kWebVm, kNextScope);
  EXPECT_NE(vm, ledger_.processes().groups(process).vm);
  ledger_.UseProcess(InVm(2, vm), milliseconds(300));
  Settle(40);
  ExpectOneVm(30, State::kRunning, "web");
  EXPECT_EQ(UnlistedJoules(Level::kVm, Unlisted::kDeparted), 30);
}

TEST_F(LedgerVm, EndedAndListed_AnotherOwnersDepartsIt) {
  ledger_.EndProcess(Run());
  Idle();
  ExpectOneVm(20, State::kTerminated, "web");
  Begin();
  ledger_.UseProcess(InVm(2, ledger_.Vm(kFalseWeb, kOther)), milliseconds(300));
  Settle(5);
  ExpectOneVm(5, State::kRunning, "false");
  EXPECT_EQ(UnlistedJoules(Level::kVm, Unlisted::kDeparted), 20);
}

TEST_F(LedgerVm, EndedAndListed_SameOwnersGoesOn) {
  ledger_.EndProcess(Run());
  Idle();
  Begin();
  ledger_.UseProcess(InVm(2, ledger_.Vm(kWebVm, kOwner)), milliseconds(300));
  Settle(5);
  ExpectOneVm(25, State::kRunning, "web");
}

TEST_F(LedgerVm, OwnerChangesWhileItRuns_TheAccountGoesOn) {
  const Row process = Run();
  Begin();
  const Row vm = ledger_.processes().groups(process).vm;
  EXPECT_EQ(ledger_.Vm(kWebVm, kNextScope, true), vm);
  ledger_.UseProcess(process, milliseconds(100));
  Settle(5);
  ExpectOneVm(25, State::kRunning, "web");
  ledger_.EndProcess(process);
  Begin();
  EXPECT_EQ(ledger_.Vm(kWebVm, kNextScope), vm) << "the new owner's machine that was restarted";
}

TEST_F(LedgerVm, RowIsUsedAgain_HasTheNewOwner) {
  const Row process = Run();
  const Row row = ledger_.processes().groups(process).vm;
  Begin();
  ledger_.EndProcess(process);
  ledger_.Vm(kWebVm, kNextScope);
  Settle(0);  // the first row is free
  Begin();
  ASSERT_EQ(ledger_.Vm({"other", "", "kvm"}, kOther), row);
  EXPECT_EQ(ledger_.Vm({"other", "", "kvm"}, kOther), row);
  EXPECT_NE(ledger_.Vm({"other", "", "kvm"}, kOwner), row);
}

}  // namespace
}  // namespace kepler::attribution
