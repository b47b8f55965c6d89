#include "src/probe/live/metrics_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "recpack/base/socket.h"
#include "src/base/format.h"
#include "src/probe/live/http_connection.h"

namespace recpack::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRest{200};

struct HostAndPort {
  std::string host;
  int port = 0;
};

HostAndPort ParseAddress(const std::string& address) {
  constexpr int kMostPort = 65'535;
  const size_t colon = address.rfind(':');
  const std::string_view text = address;
  std::string_view host = text.substr(0, colon == std::string::npos ? 0 : colon);
  const std::string_view digits = colon == std::string::npos ? text : text.substr(colon + 1);
  const bool in_brackets = host.size() >= 2 && host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  int port = -1;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_port =
      code == std::errc() && end == digits.data() + digits.size() && port >= 0 && port <= kMostPort;
  if (!is_port || host.empty() || (!in_brackets && host.find(':') != std::string_view::npos)) {
    throw Error(
        ErrorKind::kInvalidArgument, format("invalid address '{}': expected HOST:PORT", address),
        {},
        "write for instance 127.0.0.1:9401, [::1]:9401, or 0.0.0.0:9401 for all addresses of "
        "this machine; port 0 takes a free one");
  }
  return {std::string(host), port};
}

Error CannotListen(const std::string& address, int error) {
  std::string advice;
  if (error == EADDRINUSE) advice = "another program listens there: choose another port, or 0";
  if (error == EADDRNOTAVAIL) advice = "choose an address of this machine";
  if (error == EACCES) advice = "ports below 1024 require CAP_NET_BIND_SERVICE";
  return {
      ErrorKind::kIo, format("cannot listen at {}: {}", address, std::strerror(error)), {}, advice};
}

Socket ListenAt(const std::string& address) {
  const auto [host, port] = ParseAddress(address);
  int error = EADDRNOTAVAIL;
  for (const SocketAddress& candidate : Resolve(host, port)) {
    Socket socket = Listen(candidate);
    if (socket) return socket;
    error = errno;
  }
  throw CannotListen(address, error);
}

std::string ToText(const SocketAddress& address) {
  const std::string host = address.Host();
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? format("[{}]:{}", host, address.port()) : format("{}:{}", host, address.port());
}

}  // namespace

struct MetricsServer::State {
  State(const std::string& at, const MetricsServerOptions& given)
      : options(given), listener(ListenAt(at)), address(ToText(LocalAddress(listener))) {}

  void Serve();
  void Take();
  std::vector<pollfd> Waits() const;
  int Timeout() const;
  std::string Text() {
    const std::lock_guard lock(mutex);
    return text;
  }

  const MetricsServerOptions options;
  Socket listener;
  const std::string address;
  Descriptor stop;
  std::mutex mutex;
  std::string text;                       // guarded by mutex
  std::list<HttpConnection> connections;  // used by the thread only; the oldest first
  Clock::time_point accept_from;  // used by the thread only; in the future if accept() failed
  std::thread thread;
};

// Descriptors for poll(): stop event, listener, connections.
std::vector<pollfd> MetricsServer::State::Waits() const {
  const bool accepts = Clock::now() >= accept_from;
  std::vector<pollfd> waits = {{stop.get(), POLLIN, 0}, {accepts ? listener.fd() : -1, POLLIN, 0}};
  waits.reserve(waits.size() + connections.size());
  for (const HttpConnection& one : connections) waits.push_back({one.fd(), one.events(), 0});
  return waits;
}

int MetricsServer::State::Timeout() const {
  const bool accepts = Clock::now() >= accept_from;
  if (connections.empty()) return accepts ? -1 : PollTime(accept_from);
  const Deadline deadline = connections.front().deadline();
  return PollTime(accepts ? deadline : std::min(deadline, accept_from));
}

void MetricsServer::State::Take() {
  while (Socket socket = Accept(listener)) {
    if (connections.size() >= options.most_connections) connections.pop_front();
    connections.emplace_back(std::move(socket), Clock::now() + options.patience,
                             options.most_request_bytes);
  }
  // accept() failed, for instance without free descriptors. Clients stay in the queue; retry later.
  if (errno != EAGAIN && errno != EWOULDBLOCK) accept_from = Clock::now() + kRest;
}

void MetricsServer::State::Serve() {
  while (true) {
    std::vector<pollfd> waits = Waits();
    if (poll(waits.data(), waits.size(), Timeout()) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    const auto now = Clock::now();
    size_t at = 2;
    connections.remove_if([&](HttpConnection& one) {
      const bool called = waits[at++].revents != 0;
      return one.deadline() <= now || (called && !one.Go([&] { return Text(); }));
    });
    if (waits[1].revents != 0) Take();
  }
}

MetricsServer::MetricsServer(const std::string& address, const MetricsServerOptions& options)
    : state_(std::make_unique<State>(address, options)) {
  state_->stop = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (state_->stop.get() < 0) throw SystemError("cannot make an event", "", errno);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the thread
  state_->thread = std::thread([state = state_.get()] { state->Serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

MetricsServer::~MetricsServer() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = ::write(state_->stop.get(), &one, sizeof one);
  state_->thread.join();
}

const std::string& MetricsServer::address() const noexcept { return state_->address; }

void MetricsServer::Publish(std::string text) {
  const std::lock_guard lock(state_->mutex);
  state_->text = std::move(text);
}

}  // namespace recpack::probe
