#include "model_store/model_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/small_file.h"
#include "model/sha256.h"
#include "os/dirents.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kUnfinished = "new";
constexpr size_t kKeyDigits = 32;
constexpr size_t kSumDigits = 64;

bool AreDigits(std::string_view text, size_t count) {
  return text.size() == count && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the checksum in "KEY-CHECKSUM.json", "new" for a file that was not completely written, and "" for a file
/// that is not from this cache.
std::string_view SumOf(std::string_view name) {
  if (!AreDigits(name.substr(0, kKeyDigits), kKeyDigits) || !name.substr(kKeyDigits).starts_with('-')) return {};
  std::string_view sum = name.substr(kKeyDigits + 1);
  if (sum == kUnfinished) return sum;
  if (!sum.ends_with(kSuffix)) return {};
  sum.remove_suffix(kSuffix.size());
  return AreDigits(sum, kSumDigits) ? sum : std::string_view();
}

bool IsWhole(std::string_view name) { return SumOf(name).size() == kSumDigits; }

}  // namespace

std::string ModelCache::PrefixOf(std::string_view key) { return model::Sha256(key).substr(0, kKeyDigits) + '-'; }

Result<IncomingText> ModelCache::Load(std::string_view key, TextBudget& budget) const {
  if (directory_.empty()) return Fail(ErrorKind::kNotFound, "no cache is configured");
  KEPLER_TRY(const std::vector<std::string> names, os::ListDir(directory_));
  // There are two files if the process was killed after it wrote the new one and before it removed the old one.
  std::vector<std::pair<int64_t, std::string>> kept;
  for (const std::string& name : names)
    if (name.starts_with(PrefixOf(key)) && IsWhole(name))
      kept.emplace_back(StampOf(directory_ + '/' + name).modified_ns, name);
  std::ranges::sort(kept, std::greater());
  Error why_not{ErrorKind::kNotFound, directory_ + ": it has no copy"};
  for (const auto& [time, name] : kept) {
    auto text = Read(name, budget);
    if (text) return text;
    if (name == kept.front().second) why_not = std::move(text).error();
  }
  return std::unexpected(std::move(why_not));
}

Result<IncomingText> ModelCache::Read(const std::string& name, TextBudget& budget) const {
  const std::string path = directory_ + '/' + name;
  KEPLER_TRY(IncomingText text, ReadIncomingText(path, most_bytes_, budget));
  if (SumOf(name) != model::Sha256(text.text()))
    return Fail(ErrorKind::kMalformed, path + ": its content does not match the checksum in its name");
  return text;
}

Status ModelCache::Save(std::string_view key, std::string_view text) const {
  if (directory_.empty()) return {};
  const std::scoped_lock lock(saving_);
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed) return Fail(KindOfErrno(failed.value()), fmt::format("make {}: {}", directory_, failed.message()));
  const std::string prefix = PrefixOf(key);
  const std::string name = prefix + model::Sha256(text) + std::string(kSuffix);
  KEPLER_CHECK_OK(ReplaceFile(directory_ + '/' + name, directory_ + '/' + prefix + std::string(kUnfinished), text));
  KEPLER_TRY(const std::vector<std::string> names, os::ListDir(directory_));
  for (const std::string& old : names)
    if (old != name && old.starts_with(prefix) && !SumOf(old).empty()) ::unlink((directory_ + '/' + old).c_str());
  return {};
}

void ModelCache::KeepOnly(std::span<const std::string> keys) const {
  if (directory_.empty()) return;
  const auto names = os::ListDir(directory_);
  if (!names) return;
  std::vector<std::string> prefixes;
  for (const std::string& key : keys) prefixes.push_back(PrefixOf(key));
  for (const std::string& name : *names)
    if (!SumOf(name).empty() && std::ranges::find(prefixes, name.substr(0, kKeyDigits + 1)) == prefixes.end())
      ::unlink((directory_ + '/' + name).c_str());
}

}  // namespace kepler::model_store
