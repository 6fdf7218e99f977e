// Archives of a model store. The input is metadata.json, a line "---", and the list of components: the summary passes
// its checks, or the error names a file.
#include <string>
#include <vector>

#include "fuzz.h"
#include "lab/files/archive.h"
#include "modelserver/archive_summary.h"

void Fuzz(std::string_view text) {
  using kepler::lab::files::Member;
  constexpr std::string_view kMark = "\n---\n";
  const size_t mark = text.find(kMark);
  const std::string metadata(text.substr(0, mark));
  const std::string list(mark == std::string_view::npos ? "" : text.substr(mark + kMark.size()));
  const std::vector<Member> members = {{"metadata.json", metadata}, {"A_1.json", list}, {"package.pkl", "x"}};
  const auto zip = kepler::lab::files::WriteArchive(members);
  if (!zip) return;  // a file in the archive looks like an archive
  const auto summary = kepler::modelserver::ReadArchiveSummary(*zip);
  if (!summary) {
    if (summary.error().message.empty()) std::abort();
    return;
  }
  if (!kepler::model::Check(summary->outline) || summary->name != "A_1") std::abort();
}
