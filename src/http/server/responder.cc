#include "http/server/responder.h"

#include <atomic>
#include <utility>

#include "http/server/connection.h"
#include "http/server/response_head.h"

namespace kepler::http {

struct Responder::Impl {
  Impl(std::shared_ptr<EventLoop> the_loop, std::weak_ptr<Connection> the_connection, uint64_t the_request)
      : loop(std::move(the_loop)), connection(std::move(the_connection)), request(the_request) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!answered) Send(PlainAnswer(500));
  }

  void Send(Response response) {
    if (answered.exchange(true)) return;
    // Only the loop's thread may hold the connection, hence the weak pointer on the way there.
    loop->Post([target = connection, number = request, answer = std::move(response)]() mutable {
      if (const auto alive = target.lock()) alive->Deliver(number, std::move(answer));
    });
  }

  const std::shared_ptr<EventLoop> loop;
  const std::weak_ptr<Connection> connection;
  const uint64_t request;
  std::atomic<bool> answered{false};
};

void Responder::operator()(Response response) const { impl_->Send(std::move(response)); }

std::shared_ptr<Responder::Impl> MakeResponderImpl(std::shared_ptr<EventLoop> loop,
                                                   std::weak_ptr<Connection> connection, uint64_t request) {
  return std::make_shared<Responder::Impl>(std::move(loop), std::move(connection), request);
}

}  // namespace kepler::http
