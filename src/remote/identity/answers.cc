#include "src/remote/identity/answers.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/http/retry.h"

namespace recpack::remote {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;
constexpr long kMetadataMilliseconds = 1000;  // not there: an error after this

}  // namespace

void FailSource(const std::string& source, const std::string& reason) {
  throw Error(
      ErrorKind::kIo, source + " gave no credentials: " + reason, {},
      "check its settings, or set RECPACK_S3_ANONYMOUS=1 (for gs://: RECPACK_GS_ANONYMOUS=1)");
}

std::string ReadText(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path, kMostBytes);
  std::string text(AsText(bytes));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

std::shared_ptr<Exchange> Ask(const Request& request, const std::string& source) {
  auto answer = SendWithRetries([&] { return request; }, {}, nullptr, request.url);
  if (answer->ok()) return answer;
  std::string reason = "HTTP status " + std::to_string(answer->status());
  // As token services say why (RFC 6749, section 5.2).
  const auto said = nlohmann::json::parse(answer->text(), nullptr, false);
  for (const char* key : {"error", "error_description"}) {
    if (const std::string text = TextOf(said, key); !text.empty()) reason += ": " + text;
  }
  FailSource(source, reason);
}

std::shared_ptr<Exchange> AskMetadata(Request request) {
  return SendOnce(std::move(request), kMetadataMilliseconds);
}

nlohmann::json ParseObject(const std::string& text, const std::string& source) {
  auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) FailSource(source, "it is no JSON object");
  return object;
}

std::string TextOf(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t ParseTime(const std::string& text) {
  std::tm time = {};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return end == nullptr || text.empty() ? 0 : ::timegm(&time);
}

}  // namespace recpack::remote
