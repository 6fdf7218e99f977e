#include "http/server/event_loop.h"

#include <cstdint>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kepler::http {

namespace asio = boost::asio;

struct EventLoop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;
void EventLoop::Run() {
  impl_->context.run();
  impl_->context.restart();
}
void EventLoop::Stop() { impl_->context.stop(); }
asio::io_context& EventLoop::context() { return impl_->context; }
void EventLoop::Post(Task task) {
  asio::post(impl_->context, [t = std::move(task)]() mutable { t(); });
}

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  // Asio may already have queued an expiry when it is cancelled; its number tells it apart.
  uint64_t generation = 0;
};

Timer::Timer(EventLoop& loop) : impl_(std::make_shared<Impl>(loop.context())) {}
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
