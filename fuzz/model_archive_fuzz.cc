// The files of a model's archive, ours and the model server's, each behind a line "--- NAME": what is read is a model
// that passes its checks, and what is refused says why.
#include <string>
#include <vector>

#include "fuzz.h"
#include "lab/files/model_archive.h"

using kepler::lab::files::Member;

namespace {

std::vector<Member> MembersOf(std::string_view text) {
  constexpr std::string_view kMark = "--- ";
  std::vector<Member> members;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(kMark)) {
      members.push_back({.name = std::string(line.substr(kMark.size())), .bytes = {}});
    } else if (!members.empty()) {
      members.back().bytes += line;
      members.back().bytes += '\n';
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return members;
}

template <class T>
void Judge(const kepler::Result<T>& read) {
  if (read ? !kepler::model::Check(read->model).has_value() : read.error().message.empty()) std::abort();
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto members = MembersOf(text);
  Judge(kepler::lab::files::UnpackModel(members));
  Judge(kepler::lab::files::ReadServerArchive(members));
}
