#pragma once
// Reports on a model: figures as JSON and as a table, and its card. Pure.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "lab/judging/fitting.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

/// Members of JSON: n, mae, mape, mape_rows and r2. MAPE over no row is null.
[[nodiscard]] std::string ErrorMembers(const training::Errors& errors);
/// "12.14"; "12.14 (3 rows)" where not all rows count; "-" where none does.
[[nodiscard]] std::string MapeText(const training::Errors& errors);

/// One object on one line: `head` (members, each with a comma behind it), the members above where there is one
/// component, and "components" by their names.
[[nodiscard]] std::string FiguresJson(std::string_view head, std::span<const Figures> figures);
/// Member "machines" of JSON with a comma behind it, and a line for people; empty without machines.
[[nodiscard]] std::string MachinesJson(std::span<const MachineErrors> machines);
[[nodiscard]] std::string MachinesLine(std::string_view column, std::span<const MachineErrors> machines);
/// A line a component.
[[nodiscard]] std::string FiguresTable(std::span<const Figures> figures);

/// Settings that, with the data, decide which model auto finds.
struct Choices {
  uint64_t seed = 0;
  int64_t search = 0;  // candidates at random; 0: none, or as many as the budget allows
  Duration budget{0};  // of the whole search; 0: none
  double good_enough_watts = 0;
};

/// Members of JSON, each with a comma behind it.
[[nodiscard]] std::string ChoicesJson(const Choices& choices);

struct Card {
  std::string_view version;  // of this program
  std::string_view data;     // path
  std::string_view sha256;
  size_t rows = 0;
  std::string_view group;  // the column, or none
  Choices choices;
  std::span<const std::string> set;           // "trees=200"
  std::string_view judged;                    // "out of fold: ..."
  std::span<const MachineErrors> machines{};  // in `group`
  const model::PowerModel& model;
  std::span<const Figures> figures;
};

/// Markdown, in which names and paths stand for themselves.
[[nodiscard]] std::string ModelCard(const Card& card);

/// What a model that came from elsewhere is known of.
struct Origin {
  std::string_view source;  // path
  std::string_view sha256;
  std::string_view kind;    // "a weight file"
  std::string_view stated;  // its errors as it says; may be empty
  const model::PowerModel& model;
};

/// The card of such a model.
[[nodiscard]] std::string ImportCard(const Origin& origin);

/// `card`, which calls the model `name`, after a heading with its new name.
[[nodiscard]] std::string RenamedCard(std::string_view card, std::string_view name, std::string_view new_name);

}  // namespace kepler::lab::judging
