// The corpus of cgroup paths: testdata/cgroup_paths.tsv, and with its sources testdata/kubernetes_paths.tsv.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "cgroup/owner.h"

namespace kepler::cgroup {
namespace {

struct Row {
  std::string at;  // file:line
  std::string path;
  Owner owner;
};

std::string Field(std::string_view text) { return std::string(text == "-" ? "" : text); }

std::string_view QosField(std::string_view text) {
  for (const std::string_view qos : {"guaranteed", "burstable", "besteffort"})
    if (text == qos) return qos;
  EXPECT_EQ(text, "-");
  return {};
}

/// `from`: index of the field with the path; the fields before it are for people.
void Read(const std::string& name, size_t from, std::vector<Row>& rows) {
  std::ifstream file(name);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.starts_with('#')) continue;
    std::vector<std::string_view> fields;
    Splitter splitter(text, '\t');
    while (const auto field = splitter.Next()) fields.push_back(*field);
    const std::string at = name + ":" + std::to_string(line);
    if (fields.size() != from + 5) {
      ADD_FAILURE() << at << ": " << fields.size() << " fields";
      continue;
    }
    fields.erase(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(from));
    Row row{.at = at, .path = std::string(fields[0]), .owner = {}};
    if (fields[1] != "-") row.owner.container = ContainerId{std::string(fields[1]), std::string(fields[2])};
    row.owner.pod_uid = Field(fields[3]);
    row.owner.qos = QosField(fields[4]);
    rows.push_back(std::move(row));
  }
}

std::vector<Row> Corpus() {
  std::vector<Row> rows;
  Read(KEPLER_CGROUP_PATHS, 0, rows);
  Read(KEPLER_KUBERNETES_PATHS, 2, rows);
  return rows;
}

std::string Describe(const Owner& owner) {
  const auto& container = owner.container;
  return "container " + (container ? container->runtime + " " + container->id : "none") + ", pod \"" + owner.pod_uid +
         "\", QoS \"" + std::string(owner.qos) + "\"";
}

TEST(Paths, Corpus_EveryRow_NamesItsOwner) {
  const auto corpus = Corpus();
  ASSERT_GE(corpus.size(), 170U);
  for (const auto& row : corpus) {
    const auto owner = OwnerOfPath(row.path);
    EXPECT_EQ(owner, row.owner) << row.at << ": " << row.path << "\n"
                                << Describe(owner) << "\ninstead of\n"
                                << Describe(row.owner);
  }
}

TEST(Paths, Corpus_TrailingSlash_ChangesNothing) {
  for (const auto& row : Corpus()) {
    if (row.path.ends_with(')')) continue;  // the kernel's mark of a removed cgroup is always last
    EXPECT_EQ(OwnerOfPath(row.path + "/"), row.owner) << row.path;
  }
}

TEST(Paths, Corpus_FromOutsideTheCgroupNamespace_KeepsTheContainer) {
  for (const auto& row : Corpus()) {
    if (row.path.starts_with("/payload")) continue;  // known by its place only
    EXPECT_EQ(OwnerOfPath("/.." + row.path), row.owner) << row.path;
  }
}

TEST(Paths, Corpus_InsideAContainer_OwnsOrLeavesItToTheOuterOne) {
  const ContainerId outer{"docker", std::string(64, 'd')};
  for (const auto& row : Corpus()) {
    if (row.path.starts_with("/payload")) continue;
    auto expected = row.owner;
    if (!expected.container && expected.pod_uid.empty()) expected.container = outer;
    EXPECT_EQ(OwnerOfPath("/docker/" + outer.id + row.path), expected) << row.path;
  }
}

}  // namespace
}  // namespace kepler::cgroup
