#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "model/file_name.h"
#include "model_store/guarded.h"
#include "model_store/incoming_text.h"
#include "model_store/source.h"
#include "os/dirents.h"

namespace kepler::model_store {
namespace {

namespace fs = std::filesystem;

/// Returns fs::file_type::none if the type cannot be read, for example because of a loop of links.
fs::file_type TypeOf(const std::string& path) {
  std::error_code unused;
  return fs::status(path, unused).type();
}

/// Returns the model file of a directory entry, "" for none. An entry that cannot be checked may be one: reading it
/// then gives the error, and its model stays in use.
std::string ModelFileOf(const std::string& directory, const std::string& name) {
  if (name.starts_with('.')) return {};  // a file of an editor, or Kubernetes' directory of the linked files
  std::string path = directory + '/' + name;
  if (name.ends_with(".json") && TypeOf(path) != fs::file_type::directory) return path;
  path += "/model.json";
  return TypeOf(path) == fs::file_type::not_found ? std::string() : path;
}

}  // namespace

Result<std::vector<std::string>> FileSource::List(Look& look) const {
  if (!is_directory_) return std::vector{place_.path};
  if (!place_.sha256.empty())
    return Fail(ErrorKind::kInvalid,
                place_.shown + ": a directory has no checksum; list its files with their checksums");
  KEPLER_TRY(const std::vector<std::string> names, os::ListDir(place_.path));
  std::vector<std::string> files;
  for (const std::string& name : names)
    if (std::string file = ModelFileOf(place_.path, name); !file.empty()) files.push_back(std::move(file));
  if (files.size() > kMaxFiles) {
    look.problems.push_back({ErrorKind::kInvalid, fmt::format("{}: has {} models; only the first {} by name are read",
                                                              place_.shown, files.size(), kMaxFiles)});
    files.resize(kMaxFiles);
  }
  return files;
}

void FileSource::Refresh(Look& look, const std::stop_token& /*stop*/) {
  next_ = clock_.Now() + kPeriod;
  look.at_place = true;
  const fs::file_type type = TypeOf(place_.path);
  const bool is_known = type != fs::file_type::none && type != fs::file_type::not_found;
  if (is_known) is_directory_ = type == fs::file_type::directory;
  auto paths = List(look);
  if (!paths) {
    ++look.refreshes;
    ++look.failed_refreshes;
    look.problems.push_back(std::move(paths).error());
    return;
  }
  const size_t gone =
      std::erase_if(files_, [&](const auto& file) { return std::ranges::find(*paths, file.first) == paths->end(); });
  look.changed = look.changed || gone > 0;
  for (const std::string& path : *paths) Read(path, look);
}

void FileSource::Read(const std::string& path, Look& look) {
  File& file = files_.try_emplace(path, budget_).first->second;
  const FileStamp stamp = StampOf(path);
  if (stamp == file.read && stamp != FileStamp()) return;
  ++look.refreshes;
  file.read = {};
  const Result<bool> taken = Guarded(path + ": ", [&] { return Take(path, stamp, file); });
  if (!taken) {
    ++look.failed_refreshes;
    look.problems.push_back(taken.error());
    return;
  }
  look.changed = look.changed || *taken;
}

Result<bool> FileSource::Take(const std::string& path, const FileStamp& stamp, File& file) const {
  // A file that is too large is not read, so its size is checked at each refresh.
  const auto with_path = [&](const Error& error) { return Fail(error.kind, path + ": " + error.message); };
  if (const Status fits = file.loaded.Check(static_cast<uint64_t>(stamp.size)); !fits) return with_path(fits.error());
  KEPLER_TRY(const IncomingText read, ReadIncomingText(path, budget_.limits().model, budget_));
  const std::string_view text = read.text();
  // A file without a valid signature is read again at the next refresh, because the signature may arrive later.
  if (keys_ != nullptr)
    if (const Status is_signed = CheckSignature(path, text); !is_signed) return with_path(is_signed.error());
  const std::string name = is_directory_ ? model::NameOfFile(path) : place_.name;
  auto taken = file.loaded.Take({.text = text,
                                 .name = name,
                                 .source = path,
                                 .sha256 = place_.sha256,
                                 .chosen = !is_directory_,
                                 .output = place_.output,
                                 .output_otherwise = OutputOf(path),
                                 .is_signed = keys_ != nullptr,
                                 .read_archive = archives_});
  file.read = stamp;
  if (!taken) return with_path(taken.error());
  return taken;
}

Status FileSource::CheckSignature(const std::string& path, std::string_view text) const {
  const auto signature = ReadSmallFile(path + ".sig");
  if (!signature) return Fail(signature.error().kind, "it has no signature: " + signature.error().message);
  return keys_->Verify(text, *signature);
}

void FileSource::AddTo(model::ModelSet& set) const {
  for (const auto& [unused, file] : files_)
    if (file.loaded.known()) set.push_back(file.loaded.known());
}

}  // namespace kepler::model_store
