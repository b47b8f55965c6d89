#include "src/probe/live/http_answer.h"

#include <algorithm>
#include <optional>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

constexpr char kExposition[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kPlain[] = "text/plain; charset=utf-8";

struct Request {
  std::string_view method;
  std::string_view path;  // without the query
};

std::string Answer(std::string_view status, std::string_view type, std::string_view body,
                   bool with_body = true, std::string_view more = "") {
  return format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
      status, type, body.size(), more, with_body ? body : std::string_view());
}

// Removes the first line from `text` and returns it without its line ending.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Checks the name of a method or header field.
bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool IsVersion1(std::string_view version) {
  return version.size() == 8 && version.starts_with("HTTP/1.") && version[7] >= '0' &&
         version[7] <= '9';
}

// Returns "/metrics" for "http://host/metrics?x" and "/metrics?x".
std::string_view ParsePath(std::string_view target) {
  if (target.starts_with("http://")) {
    target.remove_prefix(7);
    const size_t slash = target.find('/');
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  return target.substr(0, target.find('?'));
}

std::optional<Request> Parse(std::string_view head) {
  const std::string_view line = TakeLine(head);
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return {};
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsToken(method) || !IsVersion1(line.substr(last + 1)) || target.empty() ||
      target.find(' ') != std::string_view::npos) {
    return {};
  }
  while (!head.empty()) {
    const std::string_view field = TakeLine(head);
    if (!field.empty() && !IsToken(field.substr(0, field.find(':')))) return {};
    if (!field.empty() && field.find(':') == std::string_view::npos) return {};
  }
  return Request{method, ParsePath(target)};
}

}  // namespace

size_t HttpHeadEnd(std::string_view bytes) noexcept {
  for (size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    const std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return std::string_view::npos;
}

std::string HttpAnswer(std::string_view head, const std::string& metrics) {
  const auto request = Parse(head);
  if (!request) return Answer("400 Bad Request", kPlain, "not an HTTP/1.1 request\n");
  const bool is_head = request->method == "HEAD";
  if (request->path != "/metrics") {
    return Answer("404 Not Found", kPlain, "the metrics are at /metrics\n", !is_head);
  }
  if (!is_head && request->method != "GET") {
    return Answer("405 Method Not Allowed", kPlain, "use GET or HEAD\n", true,
                  "Allow: GET, HEAD\r\n");
  }
  if (metrics.empty()) {
    return Answer("503 Service Unavailable", kPlain, "there are no metrics yet\n", !is_head);
  }
  return Answer("200 OK", kExposition, metrics, !is_head);
}

std::string HttpTooLong() {
  return Answer("431 Request Header Fields Too Large", kPlain, "the request is too long\n");
}

}  // namespace recpack::probe
