#include "workload/kubernetes/informer.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace kepler::workload::kubernetes {
namespace {

std::string_view NameOf(InformerMode mode) {
  switch (mode) {
    case InformerMode::kAuto:
      return "auto";
    case InformerMode::kKubelet:
      return "kubelet";
    case InformerMode::kApiserver:
      return "apiserver";
  }
  return "";
}

InformerMode FirstSource(InformerMode mode) {
  return mode == InformerMode::kApiserver ? InformerMode::kApiserver : InformerMode::kKubelet;
}

RefreshPlan::Times TimesOf(InformerMode source, Nanoseconds interval) {
  const Nanoseconds max_delay = Informer::kMaxDelay;
  if (source == InformerMode::kApiserver)
    return {.interval = Informer::kMinWatch, .jitter = std::chrono::seconds(5), .max_delay = max_delay};
  return {.interval = interval,
          .jitter = interval / 10,
          .max_delay = std::clamp<Nanoseconds>(interval, RefreshPlan::kFirstDelay, max_delay)};
}

}  // namespace

Informer::Informer(AccessFinder find, InformerOptions options, const Clock& clock)
    : find_(std::move(find)),
      options_(std::move(options)),
      clock_(clock),
      source_(FirstSource(options_.mode)),
      plan_(TimesOf(source_, options_.interval), std::random_device{}()),
      status_{.mode = NameOf(options_.mode), .source = NameOf(source_)} {}

Informer::~Informer() = default;  // the thread is asked to stop, and joined

Status Informer::Start() {
  KEPLER_CHECK_OK(Connect());
  KEPLER_TRY(thread_, StartThread("pods", [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

std::shared_ptr<const PodMap> Informer::Latest() const { return cache_.Latest(clock_.Now()); }

void Informer::Miss(std::string_view pod_uid, std::string_view container_id) {
  const std::scoped_lock lock(mutex_);
  if (source_ == InformerMode::kApiserver) return;  // its watch reports new pods
  if (plan_.Miss(pod_uid, container_id, clock_.Now())) changed_.notify_one();
}

status::PodInformerStatus Informer::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void Informer::Loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const BootTime due = plan_.next();
    const Nanoseconds left = due - clock_.Now();
    if (left.count() > 0) {
      changed_.wait_for(lock, stop, left, [&] { return plan_.next() != due; });
      continue;
    }
    lock.unlock();
    Refresh(stop);
    lock.lock();
  }
}

void Informer::Refresh(const std::stop_token& stop) {
  {
    const std::scoped_lock lock(mutex_);
    plan_.Begin(clock_.Now());
  }
  const Status done = Ask(stop);
  if (stop.stop_requested()) return;
  if (done) return Succeed();
  Complain(done.error());
  NoteFailure();
}

void Informer::Succeed() {
  SayRecovery();
  const auto pods = Latest();
  const std::scoped_lock lock(mutex_);
  plan_.Succeed(clock_.Now(), [&](const std::string& id) {
    return pods->FindContainer(id) != nullptr || pods->FindPod(id) != nullptr;
  });
}

void Informer::NoteFailure() {
  const std::scoped_lock lock(mutex_);
  ++status_.failed_requests;
  status_.up = false;
  plan_.Fail(clock_.Now());
}

Status Informer::Ask(const std::stop_token& stop) {
  switch (options_.mode) {
    case InformerMode::kAuto:
      return AskEither(stop);
    case InformerMode::kKubelet:
      return AskKubelet(stop);
    case InformerMode::kApiserver:
      return Follow(stop);
  }
  return {};
}

Status Informer::Connect() {
  if (has_access_) return {};
  KEPLER_TRY(ClusterAccess access, find_());
  if (client_)
    client_->Use(std::move(access));
  else
    client_.emplace(std::move(access), options_.node);
  has_access_ = true;
  return {};
}

Status Informer::AskKubelet(const std::stop_token& stop) {
  CountRequest();
  KEPLER_CHECK_OK(Connect());
  KEPLER_TRY(PodList list, client_->AskKubelet(stop));
  Take(std::move(list));
  Publish();
  return {};
}

/// The API server replaces the kubelet after its first answer. While both fail, each attempt sends requests to both.
Status Informer::AskEither(const std::stop_token& stop) {
  if (source_ == InformerMode::kKubelet || IsKubeletDue()) {
    const Status asked = AskKubelet(stop);
    if (asked) Use(InformerMode::kKubelet);
    // Without a node of this name, the API server would answer with an empty list.
    if (asked || stop.stop_requested() || asked.error().kind == ErrorKind::kNotFound) return asked;
    kubelet_error_ = asked.error().message;
    kubelet_again_ = clock_.Now() + kKubeletAgain;
    has_access_ = false;
    const std::scoped_lock lock(mutex_);
    ++status_.failed_requests;
  }
  Status followed = Follow(stop);
  if (followed) return followed;
  kubelet_again_ = {};
  return Fail(followed.error().kind, fmt::format("{}; the kubelet: {}", followed.error().message, kubelet_error_));
}

bool Informer::IsKubeletDue() const { return options_.mode == InformerMode::kAuto && clock_.Now() >= kubelet_again_; }

void Informer::Use(InformerMode source) {
  if (source == source_) return;
  if (source == InformerMode::kApiserver) {
    log::Warn("the kubelet is unavailable, using the API server for the names of pods",
              {{"err", kubelet_error_}, {"retry", "1h"}});
  } else {
    version_.clear();
    log::Info("the kubelet answers again, using it for the names of pods");
  }
  const std::scoped_lock lock(mutex_);
  source_ = source;
  status_.source = NameOf(source);
  plan_.Use(TimesOf(source, options_.interval));
}

void Informer::CountRequest() {
  const std::scoped_lock lock(mutex_);
  ++status_.requests;
}

void Informer::Publish() {
  ReturnMemory();
  const std::scoped_lock lock(mutex_);
  status_.last_success = clock_.Wall();
  status_.up = true;
  status_.pods = cache_.size();
}

void Informer::ReturnMemory() {
  names_.Note(cache_.bytes());
  const BootTime now = clock_.Now();
  if (!names_.over()) over_since_.reset();
  if (!names_.over() || now - over_since_.emplace(over_since_.value_or(now)) < kReturnDelay) return;
  ::malloc_trim(0);
  names_.End();
}

void Informer::Count(const LeftOut& left_out) {
  if (!left_out.any()) return;
  limiter_.Say(log::Level::kWarn, "left out", clock_.Now(),
               "some pods and containers stay without names: the memory for names is full, or a pod has more than 1000 "
               "containers or needs more than 1/16 of that memory; raise the memory limit of the agent",
               {{"pods", std::to_string(left_out.pods)},
                {"containers", std::to_string(left_out.containers)},
                {"max_name_bytes", std::to_string(options_.node.max_name_bytes)}});
  const std::scoped_lock lock(mutex_);
  status_.left_out_pods += left_out.pods;
  status_.left_out_containers += left_out.containers;
}

void Informer::Complain(const Error& error) {
  has_access_ = false;
  // The text before the first ": " is the cause. The text after it varies: the answer of the server, or a position.
  const auto permit = limiter_.Ask(error.message.substr(0, error.message.find(": ")), clock_.Now(), !has_complained_);
  if (!permit.pass) return;
  has_complained_ = true;
  log::Warn("failed to get the pods of this node; new pods are listed by UID, without names, until a request succeeds",
            {{"err", error.message}, {"suppressed", std::to_string(permit.suppressed)}});
}

void Informer::SayRecovery() {
  if (!has_complained_ || !limiter_.Ask("recovery", clock_.Now()).pass) return;
  has_complained_ = false;
  log::Info("received the pods of this node again");
}

}  // namespace kepler::workload::kubernetes
