#include "src/remote/http/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::remote {
namespace {

constexpr int kMostEvents = 64;

Descriptor Made(int descriptor) {
  if (descriptor >= 0) return Descriptor(descriptor);
  throw Error(ErrorKind::kIo, format("cannot wait for sockets: {}", std::strerror(errno)), {},
              "allow more open files (ulimit -n)");
}

// As libcurl names what happened to a socket.
int Happened(uint32_t events) {
  int happened = 0;
  if ((events & (EPOLLIN | EPOLLHUP)) != 0) happened |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) happened |= CURL_CSELECT_OUT;
  if ((events & EPOLLERR) != 0) happened |= CURL_CSELECT_ERR;
  return happened;
}

}  // namespace

EventLoop::EventLoop(CURLM* multi)
    : multi_(multi),
      epoll_(Made(::epoll_create1(EPOLL_CLOEXEC))),
      wake_(Made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event = {.events = EPOLLIN, .data = {.fd = wake_.get()}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  const CurlLibrary& curl = Curl();
  curl.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &EventLoop::OnSocket);
  curl.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &EventLoop::OnTimer);
  curl.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

void EventLoop::Wake() const noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(wake_.get(), &one, sizeof one);
}

int EventLoop::TimeLeft() const {
  if (!due_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

void EventLoop::RunOnce() {
  epoll_event events[kMostEvents];
  const int count = ::epoll_wait(epoll_.get(), events, kMostEvents, TimeLeft());
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == wake_.get()) {
      uint64_t wakes;
      [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &wakes, sizeof wakes);
    } else {
      Curl().multi_socket_action(multi_, events[i].data.fd, Happened(events[i].events), &running);
    }
  }
  if (due_ && *due_ <= Clock::now()) {
    due_.reset();  // libcurl sets it again
    Curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

int EventLoop::OnSocket(CURL*, curl_socket_t socket, int what, void* given, void*) noexcept {
  const auto& loop = *static_cast<EventLoop*>(given);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(loop.epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event = {.events = 0, .data = {.fd = socket}};
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  if (::epoll_ctl(loop.epoll_.get(), EPOLL_CTL_MOD, socket, &event) != 0) {
    ::epoll_ctl(loop.epoll_.get(), EPOLL_CTL_ADD, socket, &event);
  }
  return 0;
}

int EventLoop::OnTimer(CURLM*, long milliseconds, void* given) noexcept {
  auto& loop = *static_cast<EventLoop*>(given);
  if (milliseconds < 0) {
    loop.due_.reset();
  } else {
    loop.due_ = Clock::now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

}  // namespace recpack::remote
