// Fuzzes HTTP requests: the answer's body must have the stated length, and only requests for
// /metrics get the figures.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/probe/live/http_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string metrics = "figure 1\n";
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = recpack::probe::HttpHeadEnd(bytes);
  if (end != std::string_view::npos && end > size) std::abort();
  const std::string answer = recpack::probe::HttpAnswer(bytes.substr(0, end), metrics);
  const size_t body = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || body == std::string::npos) std::abort();
  const size_t length = answer.find("Content-Length: ");
  const size_t told = std::stoul(answer.substr(length + 16));
  const size_t sent = answer.size() - body - 4;
  if (sent != told && sent != 0) std::abort();
  const bool given = answer.find(metrics, body) != std::string::npos;
  if (given && (!bytes.starts_with("GET ") || bytes.find("/metrics") == std::string_view::npos)) {
    std::abort();
  }
  return 0;
}
