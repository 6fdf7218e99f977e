#include "http/server/event_loop.h"

#include <cstdint>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kepler::http {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

struct EventLoop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;
void EventLoop::Run() { impl_->context.run(); }
void EventLoop::Stop() { impl_->context.stop(); }
void EventLoop::Restart() { impl_->context.restart(); }
void EventLoop::Post(Task task) {
  asio::post(impl_->context, [t = std::move(task)]() mutable { t(); });
}

struct FdWatch::Impl {
  explicit Impl(asio::io_context& context) : descriptor(context) {}
  Descriptor descriptor;

  void When(Descriptor::wait_type what, Task task) {
    descriptor.async_wait(what, [t = std::move(task)](const boost::system::error_code& error) mutable {
      if (error != asio::error::operation_aborted) t();
    });
  }
};

FdWatch::FdWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FdWatch::FdWatch(FdWatch&&) noexcept = default;
FdWatch& FdWatch::operator=(FdWatch&&) noexcept = default;
FdWatch::~FdWatch() { Close(); }

Result<FdWatch> FdWatch::Create(EventLoop& loop, UniqueFd fd) {
  auto impl = std::make_unique<Impl>(loop.impl().context);
  boost::system::error_code error;
  static_cast<void>(impl->descriptor.assign(fd.get(), error));
  if (error) return FailErrno("watch", "a socket", error.value());
  static_cast<void>(fd.Release());  // the descriptor owns it now
  return FdWatch(std::move(impl));
}

int FdWatch::fd() const { return impl_->descriptor.native_handle(); }
void FdWatch::WhenReadable(Task task) { impl_->When(Descriptor::wait_read, std::move(task)); }
void FdWatch::WhenWritable(Task task) { impl_->When(Descriptor::wait_write, std::move(task)); }
void FdWatch::Close() {
  boost::system::error_code ignored;
  if (impl_) static_cast<void>(impl_->descriptor.close(ignored));
}

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  // Asio may already have queued an expiry when it is cancelled; its number tells it apart.
  uint64_t generation = 0;
};

Timer::Timer(EventLoop& loop) : impl_(std::make_shared<Impl>(loop.impl().context)) {}
Timer::~Timer() { Cancel(); }

void Timer::Start(std::chrono::nanoseconds delay, Task task) {
  const uint64_t mine = ++impl_->generation;
  impl_->timer.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(delay));
  impl_->timer.async_wait([impl = impl_, mine, t = std::move(task)](const boost::system::error_code& error) mutable {
    if (!error && impl->generation == mine) t();
  });
}

void Timer::Cancel() {
  ++impl_->generation;
  impl_->timer.cancel();
}

}  // namespace kepler::http
