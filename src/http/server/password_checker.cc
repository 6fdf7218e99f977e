#include "http/server/password_checker.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"

namespace kepler::http::server {
namespace {

constexpr size_t kMaxCached = 100;
constexpr size_t kBcryptBytes = 72;  // bcrypt reads no more of a password
constexpr size_t kMaxShownUser = 64;
constexpr std::string_view kUnknownUser = "unknown";
constexpr size_t kMaxNamed = 64;  // number of clients with separate log lines

/// Returns the hash to compare a login of `user` with. For an unknown name it is the most expensive hash of the file.
/// If all hashes have the same cost, the time of an answer does not show which names exist.
const std::string& HashFor(const PasswordChecker::Users& users, const std::string& user) {
  const auto known = users.find(user);
  if (known != users.end()) return known->second;
  return std::ranges::max_element(users, {}, [](const auto& entry) { return webconfig::BcryptCost(entry.second); })
      ->second;
}

/// The user for the log. A name that does not exist may be a password that was typed into the wrong field.
std::string ShowUser(const PasswordChecker::Users& users, const std::string& user) {
  return users.contains(user) ? SanitizeUtf8(user, kMaxShownUser) : std::string(kUnknownUser);
}

}  // namespace

std::optional<Credentials> ParseBasicAuth(std::string_view header) {
  constexpr std::string_view kScheme = "basic ";
  if (ToLowerAscii(header.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  const auto decoded = DecodeBase64(header.substr(kScheme.size()));
  if (!decoded) return std::nullopt;
  const auto colon = decoded->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{decoded->substr(0, colon), decoded->substr(colon + 1)};
}

bool PasswordChecker::Cache::Has(const PasswordTag& tag) const {
  // Every entry is compared in constant time, so the time of an answer shows neither the entry nor its bytes.
  bool found = false;
  for (const auto& known : tags_) found |= CRYPTO_memcmp(known.data(), tag.data(), tag.size()) == 0;
  return found;
}

void PasswordChecker::Cache::Add(const PasswordTag& tag) {
  if (tags_.size() >= kMaxCached) tags_.pop_front();
  tags_.push_back(tag);
}

PasswordChecker::PasswordChecker(EventLoop& loop, HashWorker::Matches matches, std::shared_ptr<const Clock> clock)
    : clock_(std::move(clock)),
      worker_(loop, std::move(matches), [this](const LoginJob& job, bool matched) { Finish(job, matched); }) {
  // From the kernel: an agent without passwords and TLS never starts OpenSSL, which costs 2 MB. Without randomness tags
  // would be predictable, but never wrong: they cover the password itself.
  if (::getrandom(secret_.data(), secret_.size(), 0) != static_cast<ssize_t>(secret_.size())) secret_.fill(0);
}

PasswordTag PasswordChecker::MakeTag(bool known_user, std::string_view user, std::string_view hash,
                                     std::string_view password) const {
  std::string text(1, known_user ? '1' : '0');
  for (const auto part : {user, hash, password}) text.append(std::to_string(part.size())).append(1, ':').append(part);
  PasswordTag tag{};
  unsigned length = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), tag.data(), &length);
  OPENSSL_cleanse(text.data(), text.size());
  return tag;
}

bool PasswordChecker::Knows(const Users& users, const Credentials& credentials) const {
  const auto user = users.find(credentials.user);
  return user != users.end() && allowed_.Has(MakeTag(true, user->first, user->second, credentials.password));
}

void PasswordChecker::Check(const Users& users, const Credentials& credentials, const ClientAddress& client,
                            Done done) {
  if (Knows(users, credentials)) return done(LoginVerdict::kAllowed);
  const auto deny = [&] {
    OnFailure(client, ShowUser(users, credentials.user), /*hashed=*/false);
    done(LoginVerdict::kDenied);
  };
  // crypt_r stops at a NUL: "right\0anything" must not pass as "right".
  if (users.empty() || credentials.password.contains('\0')) return deny();
  const bool known = users.contains(credentials.user);
  const std::string& hash = HashFor(users, credentials.user);
  const PasswordTag tag = MakeTag(known, credentials.user, hash, credentials.password);
  if (denied_.Has(tag)) return deny();
  const LoginKey key{client, tag};
  if (const auto same = logins_.find(key); same != logins_.end()) {
    if (same->second.waiting.size() >= kMaxOfOneLogin) return done(LoginVerdict::kBusy);
    same->second.waiting.push_back(std::move(done));
    return;
  }
  const auto entry = Enqueue({.client = client,
                              .tag = tag,
                              .known_user = known,
                              .hash = hash,
                              .password = credentials.password.substr(0, kBcryptBytes)});
  if (entry != LoginVerdict::kAllowed) return done(entry);
  Login& login = logins_[key];
  login.shown_user = ShowUser(users, credentials.user);
  login.waiting.push_back(std::move(done));
}

std::chrono::nanoseconds PasswordChecker::WaitOf(const ClientAddress& client) const {
  return failed_.Wait(client, clock_->Now());
}

LoginVerdict PasswordChecker::Enqueue(LoginJob job) {
  if (WaitOf(job.client) > std::chrono::nanoseconds(0)) return LoginVerdict::kPutOff;
  if (const auto started = worker_.Start(); !started) {
    limiter_.Say(log::Level::kWarn, "thread", clock_->Now(),
                 "failed to check passwords; requests with a password get 503 until a check succeeds",
                 {{"err", started.error().message}});
    return LoginVerdict::kBusy;
  }
  job.has_failed = failed_.Has(job.client, clock_->Now());
  const auto added = worker_.Add(std::move(job));
  if (added.dropped) Answer({added.dropped->client, added.dropped->tag}, LoginVerdict::kBusy);
  return added.queued ? LoginVerdict::kAllowed : LoginVerdict::kBusy;
}

void PasswordChecker::Finish(const LoginJob& job, bool matches) {
  (matches ? allowed_ : denied_).Add(job.tag);
  const LoginKey key{job.client, job.tag};
  const auto login = logins_.find(key);
  if (!matches && login != logins_.end()) OnFailure(job.client, login->second.shown_user, /*hashed=*/true);
  Answer(key, matches ? LoginVerdict::kAllowed : LoginVerdict::kDenied);
  if (matches || WaitOf(job.client) == std::chrono::nanoseconds(0)) return;
  for (const LoginJob& other : worker_.TakeAllOf(job.client)) Answer({other.client, other.tag}, LoginVerdict::kPutOff);
}

void PasswordChecker::Answer(const LoginKey& key, LoginVerdict verdict) {
  auto login = logins_.extract(key);
  if (login.empty()) return;
  for (auto& done : login.mapped().waiting) done(verdict);
}

void PasswordChecker::OnFailure(const ClientAddress& client, std::string shown_user, bool hashed) {
  const BootTime now = clock_->Now();
  const uint64_t failures = failed_.Add(client, hashed, now);
  const std::string name = ToString(client);
  // A client with many addresses does not get a log line for each.
  const auto wait = std::chrono::ceil<std::chrono::seconds>(failed_.Wait(client, now));
  limiter_.Say(log::Level::kWarn, failed_.size() <= kMaxNamed ? std::string_view(name) : "many", now,
               "refused a login: wrong user or password",
               {{"client", name},
                {"user", std::move(shown_user)},
                {"failures", std::to_string(failures)},
                {"must_wait_s", std::to_string(wait.count())}});
}

}  // namespace kepler::http::server
