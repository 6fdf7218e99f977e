#include "http/server/password_checker.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/text.h"
#include "base/thread.h"

namespace kepler::http {
namespace {

constexpr size_t kMostQueued = 64;
constexpr size_t kMostCached = 100;
constexpr size_t kBcryptBytes = 72;  // bcrypt looks at no more of a password

/// Whether bcrypt turns `password` into `hash`. Slow on purpose.
bool Matches(const std::string& password, const std::string& hash) {
  const auto scratch = std::make_unique<crypt_data>();
  const char* computed = ::crypt_r(password.c_str(), hash.c_str(), scratch.get());
  const bool same = computed != nullptr && std::strlen(computed) == hash.size() &&
                    CRYPTO_memcmp(computed, hash.data(), hash.size()) == 0;
  OPENSSL_cleanse(scratch.get(), sizeof(crypt_data));
  return same;
}

void AppendPart(std::string& text, std::string_view part) {
  const uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
}

}  // namespace

std::optional<Credentials> ParseBasicAuth(std::string_view header) {
  constexpr std::string_view kScheme = "basic ";
  if (ToLowerAscii(header.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  const auto encoded = header.substr(kScheme.size());
  if (encoded.empty() || encoded.size() % 4 != 0) return std::nullopt;
  std::string decoded(encoded.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                      reinterpret_cast<const unsigned char*>(encoded.data()), static_cast<int>(encoded.size()));
  if (length < 0) return std::nullopt;
  const auto padding = encoded.size() - 1 - encoded.find_last_not_of('=');
  if (padding > 2) return std::nullopt;
  decoded.resize(static_cast<size_t>(length) - padding);
  const auto colon = decoded.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{decoded.substr(0, colon), decoded.substr(colon + 1)};
}

bool PasswordChecker::Cache::Has(const Tag& tag) const {
  // Every entry is looked at, each in constant time: the answer's time tells nothing about the place or the bytes.
  bool found = false;
  for (const auto& known : tags_) found |= CRYPTO_memcmp(known.data(), tag.data(), tag.size()) == 0;
  return found;
}

void PasswordChecker::Cache::Add(const Tag& tag) {
  if (tags_.size() >= kMostCached) tags_.pop_front();
  tags_.push_back(tag);
}

PasswordChecker::PasswordChecker(EventLoop& loop) : loop_(loop) {
  // Without randomness tags would be predictable, but never wrong: they cover the password itself.
  if (RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) != 1) secret_.fill(0);
}

PasswordChecker::~PasswordChecker() = default;

PasswordChecker::Tag PasswordChecker::MakeTag(bool known_user, std::string_view user, std::string_view hash,
                                              std::string_view password) const {
  std::string text(1, known_user ? '1' : '0');
  for (const auto part : {user, hash, password}) AppendPart(text, part);
  Tag tag{};
  unsigned length = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), tag.data(), &length);
  OPENSSL_cleanse(text.data(), text.size());
  return tag;
}

void PasswordChecker::Check(const Users& users, const Credentials& credentials, Done done) {
  // crypt_r stops at a NUL: "right\0anything" must not pass as "right".
  if (users.empty() || credentials.password.contains('\0')) return done(Verdict::kDenied);
  const auto user = users.find(credentials.user);
  const bool known = user != users.end();
  // A name that does not exist costs what the first user costs, so that time does not tell which names exist.
  const std::string& hash = known ? user->second : users.begin()->second;
  const Tag tag = MakeTag(known, credentials.user, hash, credentials.password);
  const bool allowed = allowed_.Has(tag), denied = denied_.Has(tag);
  if (allowed || denied) return done(allowed ? Verdict::kAllowed : Verdict::kDenied);
  if (const auto same = waiting_.find(tag); same != waiting_.end()) {
    same->second.push_back(std::move(done));
    return;
  }
  if (!Enqueue({tag, known, hash, credentials.password.substr(0, kBcryptBytes)})) return done(Verdict::kBusy);
  waiting_[tag].push_back(std::move(done));
}

bool PasswordChecker::HaveWorker() {
  if (worker_.joinable()) return true;
  auto started = StartThread("passwords", [this](const std::stop_token& stop) { Work(stop); });
  if (started) {
    worker_ = *std::move(started);
    return true;
  }
  if (const auto verdict = limiter_.Ask("thread", clock_.Now()); verdict.pass)
    log::Warn("passwords cannot be checked, requests that bring one are answered 503; the next one tries again",
              {{"err", started.error().message}, {"held_back", std::to_string(verdict.held_back)}});
  return false;
}

bool PasswordChecker::Enqueue(Job job) {
  if (!HaveWorker()) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= kMostQueued) return false;
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void PasswordChecker::Work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const bool matches = Matches(job.password, job.hash) && job.known_user;
    OPENSSL_cleanse(job.password.data(), job.password.size());
    loop_.Post([this, tag = job.tag, matches] { Finish(tag, matches); });
  }
}

void PasswordChecker::Finish(const Tag& tag, bool matches) {
  (matches ? allowed_ : denied_).Add(tag);
  auto waiters = waiting_.extract(tag);
  if (waiters.empty()) return;
  for (auto& done : waiters.mapped()) done(matches ? Verdict::kAllowed : Verdict::kDenied);
}

}  // namespace kepler::http
