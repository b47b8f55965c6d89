// Proxy that puts a slow and faulty network between an HTTP client and a server on this machine.
//
//   fault_proxy PORT [--delay-ms X] [--rate BYTES_PER_SECOND] [--stalled SHARE] [--stall-s X]
//               [--faulty SHARE --faults KIND,KIND] [--seed N]
//
// Listens on a free port of the loopback device and prints it, as JSON. For each line on the
// standard input it prints what it counted; it ends with the input. Kinds of faults: 500, 503 (with
// Retry-After), reset, cut, corrupt, truncated, stall, wrong_range, changed (another ETag).
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "bench/record/timing.h"
#include "bench/remote/http_message.h"
#include "bench/remote/network.h"

namespace recpack::bench {
namespace {

constexpr uint64_t kPiece = 64 << 10;  // that connections take turns with

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void SendAtOnce(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Moves bytes between sockets without copying them.
class Mover {
 public:
  Mover() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) std::abort();
    ::fcntl(ends_[1], F_SETPIPE_SZ, static_cast<int>(4 * kPiece));
  }
  ~Mover() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // Returns the bytes moved, `most` at most; 0 at the end of either stream.
  uint64_t Move(int from, int to, uint64_t most) const {
    const ssize_t got = ::splice(from, nullptr, ends_[1], nullptr, most, SPLICE_F_MOVE);
    for (ssize_t left = got; left > 0;) {
      const ssize_t put =
          ::splice(ends_[0], nullptr, to, nullptr, static_cast<size_t>(left), SPLICE_F_MOVE);
      if (put <= 0) return 0;
      left -= put;
    }
    return static_cast<uint64_t>(std::max<ssize_t>(got, 0));
  }

 private:
  int ends_[2];
};

// A client's connection, and that to the server which it causes.
class Connection {
 public:
  Connection(int client, uint16_t server_port, Network& network)
      : client_(client), server_port_(server_port), network_(network) {
    SendAtOnce(client);
  }

  void Run() {
    while (Exchange()) continue;
  }

 private:
  // Tells whether the connection goes on.
  bool Exchange() {
    const auto head = client_.ReadHead();
    if (!head) return false;
    const std::string length = Header(*head, "content-length");
    const std::string body = client_.Read(length.empty() ? 0 : std::stoull(length));
    const std::string method = head->substr(0, head->find(' '));
    const std::string path = head->substr(0, head->find("\r\n"));
    const std::string fault = network_.Draw(method, path + " " + Header(*head, "range"));
    const auto& options = network_.options();
    std::this_thread::sleep_for(options.delay);
    if (fault == "stalled" || fault == "stall") std::this_thread::sleep_for(options.stall);
    if (fault == "reset") return Reset();
    if (fault == "500" || fault == "503") return Refuse(fault);
    const auto answer = Ask(*head + body);
    if (!answer) return false;
    return Answer(*answer, method == "HEAD", fault);
  }

  bool Reset() const {
    const linger now{1, 0};
    ::setsockopt(client_.descriptor(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    return false;
  }

  bool Refuse(const std::string& status) const {
    return client_.Write("HTTP/1.1 " + status +
                         " Faulty\r\nContent-Length: 0\r\nRetry-After: 0\r\n\r\n");
  }

  // Returns the head of the server's answer. A connection that the server has ended is made anew.
  std::optional<std::string> Ask(const std::string& request) {
    for (int tries = 0; tries < 2; ++tries) {
      if (!server_ && !Connect()) return {};
      if (server_->Write(request)) {
        if (auto head = server_->ReadHead()) return head;
      }
      server_.reset();
    }
    return {};
  }

  bool Connect() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server_ = std::make_unique<HttpStream>(descriptor);
    const sockaddr_in address = Loopback(server_port_);
    SendAtOnce(descriptor);
    return ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool Answer(std::string head, bool is_head, const std::string& fault) {
    const std::string length = Header(head, "content-length");
    const uint64_t size = length.empty() || is_head ? 0 : std::stoull(length);
    uint64_t sent = size;
    if (fault == "cut" || fault == "truncated") sent = size / 2;
    if (fault == "truncated") head = WithHeader(head, "content-length", std::to_string(sent));
    if (fault == "wrong_range") head = WithHeader(head, "content-range", Shifted(head));
    if (fault == "changed") head = WithHeader(head, "etag", "\"another\"");
    if (!client_.Write(head)) return false;
    const bool all = fault == "corrupt" ? SendCorrupt(sent) : SendBody(sent);
    if (sent < size) server_.reset();  // with the rest of the answer
    return all && fault != "cut" && Header(head, "connection") != "close";
  }

  static std::string Shifted(const std::string& head) {
    const std::string range = Header(head, "content-range");  // bytes 0-9/100
    unsigned long long first = 0, last = 0, total = 0;
    std::sscanf(range.c_str(), "bytes %llu-%llu/%llu", &first, &last, &total);
    if (first == 0) return range;
    return "bytes " + std::to_string(first - 1) + "-" + std::to_string(last - 1) + "/" +
           std::to_string(total);
  }

  bool SendBody(uint64_t size) {
    const std::string buffered = server_->TakeBuffered(size);
    network_.Send(buffered.size());
    if (!client_.Write(buffered)) return false;
    for (uint64_t left = size - buffered.size(); left > 0;) {
      const uint64_t piece = std::min(left, kPiece);
      network_.Send(piece);
      for (uint64_t rest = piece; rest > 0;) {
        const uint64_t moved = mover_.Move(server_->descriptor(), client_.descriptor(), rest);
        if (moved == 0) return false;
        rest -= moved;
      }
      left -= piece;
    }
    return true;
  }

  bool SendCorrupt(uint64_t size) {
    std::string body = server_->Read(size);
    if (!body.empty()) body[body.size() / 2] ^= 1;
    network_.Send(body.size());
    return client_.Write(body);
  }

  HttpStream client_;
  const uint16_t server_port_;
  Network& network_;
  std::unique_ptr<HttpStream> server_;
  const Mover mover_;
};

void PrintCounts(const NetworkCounts& counts) {
  const auto list = [](const std::map<std::string, uint64_t>& numbers) {
    std::string text;
    for (const auto& [name, number] : numbers) {
      text += (text.empty() ? "\"" : ", \"") + name + "\": " + std::to_string(number);
    }
    return "{" + text + "}";
  };
  std::printf("{\"methods\": %s, \"faults\": %s, \"body_bytes\": %llu}\n",
              list(counts.methods).c_str(), list(counts.faults).c_str(),
              static_cast<unsigned long long>(counts.body_bytes));
  std::fflush(stdout);
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

NetworkOptions ReadOptions(const Flags& flags) {
  const auto number = [&](const char* name, const char* otherwise) {
    return std::stod(flags.Text(name, otherwise));
  };
  return {.delay = std::chrono::duration<double, std::milli>(number("--delay-ms", "0")),
          .bytes_per_second = number("--rate", "0"),
          .stalled = number("--stalled", "0"),
          .stall = std::chrono::duration<double>(number("--stall-s", "5")),
          .faulty = number("--faulty", "0"),
          .faults = Split(flags.Text("--faults", "")),
          .seed = std::stoull(flags.Text("--seed", "0"))};
}

int Run(uint16_t server_port, NetworkOptions options) {
  ::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): clients may go at any time
  static auto* const network = new Network(std::move(options));  // connections outlive main()
  const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (::bind(door, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(door, 512) != 0 ||
      ::getsockname(door, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("fault_proxy");
    return 1;
  }
  std::printf("{\"port\": %d}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  std::thread([door, server_port] {
    for (;;) {
      const int client = ::accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      std::thread([client, server_port] {
        Connection(client, server_port, *network).Run();
      }).detach();
    }
  }).detach();
  for (std::string line; std::getline(std::cin, line);) PrintCounts(network->counts());
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace
}  // namespace recpack::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fault_proxy PORT [--delay-ms X] [--rate BYTES_PER_SECOND] ...\n");
    return 2;
  }
  const recpack::bench::Flags flags(argc, argv);
  return recpack::bench::Run(static_cast<uint16_t>(std::stoi(argv[1])),
                             recpack::bench::ReadOptions(flags));
}
