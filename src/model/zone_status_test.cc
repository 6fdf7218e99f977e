#include "model/zone_status.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace kepler::model {
namespace {

std::optional<Accuracy> Mape(double mape) { return Accuracy{.rows = 9, .mae_watts = mape / 2, .mape = mape, .r2 = 0}; }

ComponentModel Stating(std::optional<Accuracy> accuracy, std::optional<Accuracy> unseen) {
  ComponentModel of{.component = Component::kDram, .trainer = "ridge", .predictor = {}, .label = {}, .accuracy = {}};
  of.accuracy = accuracy;
  of.unseen = unseen;
  return of;
}

std::string BasisOf(const ComponentModel& of, std::string_view match) { return std::string(ErrorOf(of, match).basis); }

TEST(ErrorOf, SaysWhereTheErrorWasMeasured) {
  const auto both = Stating(Mape(3), Mape(8));
  EXPECT_EQ(BasisOf(both, "same_machine"), "same_machine");
  EXPECT_EQ(ErrorOf(both, "same_machine").accuracy->mape, 3);
  for (const char* const other : {"similar", "same_processor", "scales_per_core", "named", "built_in"}) {
    EXPECT_EQ(BasisOf(both, other), "other_machines");
    EXPECT_EQ(ErrorOf(both, other).accuracy->mape, 8);
  }
  EXPECT_EQ(BasisOf(Stating({}, Mape(8)), "same_machine"), "other_machines");
  EXPECT_EQ(BasisOf(Stating(Mape(3), {}), "same_processor"), "training_machine");
}

TEST(ErrorOf, NoRowsOrNothing_IsNone) {
  EXPECT_EQ(BasisOf(Stating({}, {}), "same_machine"), "");
  EXPECT_EQ(BasisOf(Stating(Mape(0), {}), "same_machine"), "");
  EXPECT_EQ(BasisOf(Stating(Mape(0), Mape(8)), "same_machine"), "other_machines");
}

TEST(ErrorOf, OnlyAnMaeOrOnlyAMape_IsStated) {
  const Accuracy mae{.rows = 0, .mae_watts = 3, .mape = 0, .r2 = 0};
  EXPECT_EQ(BasisOf(Stating(mae, {}), "same_machine"), "same_machine");
  EXPECT_EQ(BasisOf(Stating({}, mae), "similar"), "other_machines");
  const Accuracy mape{.rows = 0, .mae_watts = 0, .mape = 5, .r2 = 0};
  EXPECT_EQ(BasisOf(Stating({}, mape), "similar"), "other_machines");
}

TEST(StatusOf, UnknownErrors_HaveNoText) {
  const PowerModel model{.name = "m", .features = {"cpu_cycles"}, .domain = {}, .components = {}, .machine = {}};
  const Accuracy mae{.rows = 0, .mae_watts = 3, .mape = 0, .r2 = 0};
  const auto status = StatusOf(model, Stating(mae, {}), "/m.json", "same_machine", false);
  EXPECT_EQ(status.mae_watts, "3");
  EXPECT_EQ(status.mape, "");
}

TEST(StatusOf, HasTheErrorAsLabelsAndNumbers) {
  const PowerModel model{.name = "m", .features = {"cpu_cycles"}, .domain = {}, .components = {}, .machine = {}};
  const auto status = StatusOf(model, Stating({}, Mape(8)), "/m.json", "named", false);
  EXPECT_EQ(status.match, "named");
  EXPECT_EQ(status.basis, "other_machines");
  EXPECT_EQ(status.mae_watts, "4");
  EXPECT_EQ(status.mape, "8");
  EXPECT_EQ(status.error_watts, 4);
  EXPECT_DOUBLE_EQ(status.error_ratio, 0.08);
  EXPECT_EQ(StatusOf(model, Stating({}, {}), "/m.json", "named", false).mae_watts, "");
}

}  // namespace
}  // namespace kepler::model
