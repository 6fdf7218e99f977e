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

/// Returns the JSON members n, mae, mape, mape_rows and r2. A MAPE over no row is null.
[[nodiscard]] std::string ErrorMembers(const training::Errors& errors);
/// Returns "12.14"; "12.14 (3 rows)" if not all rows count; "-" if no row counts.
[[nodiscard]] std::string MapeText(const training::Errors& errors);

/// Returns one JSON object on one line: `head` (members, each followed by a comma), the members above if there is one
/// component, and "components" by name.
[[nodiscard]] std::string FiguresJson(std::string_view head, std::span<const Figures> figures);
/// Returns the JSON member "machines", followed by a comma, and a line of text for people with the MAPE of the first
/// component; "" if there are no machines, or no MAPE.
[[nodiscard]] std::string MachinesJson(std::span<const MachineErrors> machines);
[[nodiscard]] std::string MachinesLine(std::string_view column, std::span<const MachineErrors> machines);
/// Returns a table with one line per component.
[[nodiscard]] std::string FiguresTable(std::span<const Figures> figures);

/// Settings that determine, together with the data, the model that auto finds.
struct Choices {
  uint64_t seed = 0;
  int64_t search = 0;  // number of random candidates; 0: none, or as many as the budget allows
  Duration budget{0};  // time limit of the whole search; 0: no limit
  double good_enough_watts = 0;
};

/// Returns JSON members, each followed by a comma.
[[nodiscard]] std::string ChoicesJson(const Choices& choices);

struct Card {
  std::string_view version;  // of this program
  std::string_view data;     // path
  std::string_view sha256;
  size_t rows = 0;
  std::string_view group;  // the column; "": none
  Choices choices;
  std::span<const std::string> set;           // "trees=200"
  std::string_view judged;                    // "out of fold: ..."
  std::span<const MachineErrors> machines{};  // in `group`
  const model::PowerModel& model;
  std::span<const Figures> figures;
};

/// Returns Markdown, in which names and paths are escaped.
[[nodiscard]] std::string ModelCard(const Card& card);

/// The origin of an imported model.
struct Origin {
  std::string_view source;  // path
  std::string_view sha256;
  std::string_view kind;    // "a weight file"
  std::string_view stated;  // the errors that it states; may be empty
  const model::PowerModel& model;
};

/// Returns the card of an imported model.
[[nodiscard]] std::string ImportCard(const Origin& origin);

/// Returns `card`, which has the old `name` of the model, after a heading with the new name.
[[nodiscard]] std::string RenamedCard(std::string_view card, std::string_view name, std::string_view new_name);

}  // namespace kepler::lab::judging
