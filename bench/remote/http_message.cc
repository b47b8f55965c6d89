#include "bench/remote/http_message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace recpack::bench {
namespace {

constexpr size_t kLongestHead = 64 << 10;
constexpr char kEnd[] = "\r\n\r\n";

// Begin and size of a header's value.
std::optional<std::pair<size_t, size_t>> Find(const std::string& head, const std::string& name) {
  const std::string wanted = "\r\n" + name + ":";
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  const auto found = std::search(head.begin(), head.end(), wanted.begin(), wanted.end(), same);
  if (found == head.end()) return {};
  const size_t begin = head.find_first_not_of(' ', found - head.begin() + wanted.size());
  return std::pair(begin, head.find('\r', begin) - begin);
}

}  // namespace

HttpStream::~HttpStream() { ::close(descriptor_); }

std::optional<std::string> HttpStream::ReadHead() {
  for (;;) {
    if (const size_t end = buffered_.find(kEnd); end != buffered_.npos) {
      return TakeBuffered(end + sizeof(kEnd) - 1);
    }
    char some[16 << 10];
    const ssize_t got = ::recv(descriptor_, some, sizeof some, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || buffered_.size() > kLongestHead) return {};
    buffered_.append(some, static_cast<size_t>(got));
  }
}

std::string HttpStream::TakeBuffered(uint64_t size) {
  std::string taken = buffered_.substr(0, size);
  buffered_.erase(0, taken.size());
  return taken;
}

std::string HttpStream::Read(uint64_t size) {
  std::string bytes = TakeBuffered(size);
  size_t done = bytes.size();
  bytes.resize(size);
  while (done < size) {
    const ssize_t got = ::recv(descriptor_, bytes.data() + done, size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

bool HttpStream::Write(const std::string& bytes) const {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::send(descriptor_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

std::string Header(const std::string& head, const std::string& name) {
  const auto found = Find(head, name);
  return found ? head.substr(found->first, found->second) : "";
}

std::string WithHeader(std::string head, const std::string& name, const std::string& value) {
  if (const auto found = Find(head, name)) head.replace(found->first, found->second, value);
  return head;
}

}  // namespace recpack::bench
