#include "http/server/event_loop.h"

#include <cstdint>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kepler::http {

namespace asio = boost::asio;

EventLoop::EventLoop() : context_(std::make_unique<asio::io_context>(1)) {}
EventLoop::~EventLoop() = default;
void EventLoop::Run() {
  auto work = asio::make_work_guard(*context_);  // or it would end when nothing is to do
  context_->run();
  work.reset();
  context_->restart();
}
void EventLoop::Stop() { context_->stop(); }
void EventLoop::Post(Task task) {
  asio::post(*context_, [t = std::move(task)]() mutable { t(); });
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
