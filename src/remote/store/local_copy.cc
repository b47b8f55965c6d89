#include "src/remote/store/local_copy.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/remote/http/retry.h"
#include "src/remote/sign/sign_v4.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

namespace fs = std::filesystem;

// An index of this size has a billion records.
constexpr uint64_t kMostCopied = uint64_t{4} << 30;

// The copy of a URL's last version: its ETag, and its name in the folder. Copies are named by their
// content, so that processes that see other versions, or other stores, do not meet.
struct Version {
  std::string etag;
  std::string name;
};

Version ReadVersion(const std::string& folder, const std::string& pointer) {
  if (!PosixFiles().Exists(pointer)) return {};
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), pointer);
  const std::string text(bytes.begin(), bytes.end());
  const size_t end = text.find('\n');
  Version version{text.substr(0, end), end == text.npos ? "" : text.substr(end + 1)};
  if (version.name.empty() || !PosixFiles().Exists(folder + "/" + version.name)) return {};
  return version;
}

// What becomes of an answer that access is refused.
enum class Refusal : uint8_t { kThrow, kIsMissing };

// Returns nullopt only with kIsMissing.
std::optional<std::string> Fetch(const std::string& path, Refusal refusal) {
  const Url url = ParseUrl(path);
  const Service& service = Service::ForScheme(url.scheme);
  const std::string folder = CopiesFolder();
  fs::create_directories(folder);
  const std::string pointer = folder + "/" + HexSha256(path) + ".version";
  const Version known = ReadVersion(folder, pointer);
  // The answer to a range says how long the whole is: one that was cut short is seen.
  Headers headers = {{"Range", "bytes=0-"}};
  if (!known.etag.empty()) headers.emplace_back("If-None-Match", known.etag);
  const auto make = [&] {
    Request request = service.Make("GET", url, headers);
    request.most_text = kMostCopied;
    return request;
  };
  const auto answer = SendWithRetries(make, {}, RefusePart, path);
  if (answer->status() == 304 && !known.name.empty()) return folder + "/" + known.name;
  const long status = answer->status();
  // Web servers have other words for it.
  const bool refused =
      status == 401 || status == 403 || (IsWebUrl(path) && status >= 400 && status < 500);
  if (refused && refusal == Refusal::kIsMissing) return {};
  if (!answer->ok()) throw service.ToError(*answer, path);
  const std::string name = HexSha256(answer->text());
  std::string copy = folder + "/" + name;
  if (!PosixFiles().Exists(copy)) {
    WriteFileAtomically(PosixFiles(), copy, AsBytes(answer->text()), false);
  }
  const std::string text = answer->Header("etag") + "\n" + name;
  WriteFileAtomically(PosixFiles(), pointer, AsBytes(text), false);
  return copy;
}

std::optional<std::string> Find(const std::string& path, Refusal refusal) {
  if (!IsUrl(path)) return PosixFiles().Exists(path) ? std::optional(path) : std::nullopt;
  try {
    return Fetch(path, refusal);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return {};
    throw;
  }
}

}  // namespace

std::string CacheFolder() {
  if (std::string folder = ProcessEnvironment("RECPACK_CACHE"); !folder.empty()) return folder;
  if (std::string folder = ProcessEnvironment("XDG_CACHE_HOME"); !folder.empty()) {
    return folder + "/recpack";
  }
  const std::string home = ProcessEnvironment("HOME");
  return home.empty() ? fs::temp_directory_path().string() + "/recpack" : home + "/.cache/recpack";
}

std::string CopiesFolder() { return CacheFolder() + "/files"; }

std::string LocalCopy(const std::string& path) {
  return IsUrl(path) ? Fetch(path, Refusal::kThrow).value() : path;
}

std::optional<std::string> FindLocalCopy(const std::string& path) {
  return Find(path, Refusal::kThrow);
}

std::optional<std::string> FindOptionalCopy(const std::string& path) {
  return Find(path, Refusal::kIsMissing);
}

}  // namespace recpack::remote
