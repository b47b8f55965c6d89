#include "src/remote/store/local_copy.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/remote/http/retry.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

namespace fs = std::filesystem;

std::string CacheFolder() {
  if (std::string folder = ProcessEnvironment("RECPACK_CACHE"); !folder.empty()) return folder;
  if (std::string folder = ProcessEnvironment("XDG_CACHE_HOME"); !folder.empty()) {
    return folder + "/recpack";
  }
  const std::string home = ProcessEnvironment("HOME");
  return home.empty() ? fs::temp_directory_path().string() + "/recpack" : home + "/.cache/recpack";
}

std::string NameOf(const std::string& url) {
  Sha256 hash;
  hash.Update(AsBytes(url));
  return Hex(hash.Finish());
}

// The copy's version lies beside it, and is written after it.
std::string ReadVersion(const std::string& copy) {
  const std::string path = copy + ".etag";
  if (!PosixFiles().Exists(copy) || !PosixFiles().Exists(path)) return {};
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  return {bytes.begin(), bytes.end()};
}

std::string Fetch(const std::string& path) {
  const Url url = ParseUrl(path);
  const Service& service = Service::ForScheme(url.scheme);
  const std::string folder = CacheFolder() + "/files";
  fs::create_directories(folder);
  const std::string copy = folder + "/" + NameOf(path);
  const std::string version = ReadVersion(copy);
  Headers headers;
  if (!version.empty()) headers.emplace_back("If-None-Match", version);
  const auto answer =
      SendWithRetries([&] { return service.Make("GET", url, headers); }, {}, nullptr, path);
  if (answer->status() == 304) return copy;
  if (!answer->ok()) throw service.ToError(*answer, path);
  // A reader of the copy keeps the one that it has mapped.
  fs::remove(copy + ".etag");
  WriteFileAtomically(PosixFiles(), copy, AsBytes(answer->text()), false);
  if (const std::string etag = answer->Header("etag"); !etag.empty()) {
    WriteFileAtomically(PosixFiles(), copy + ".etag", AsBytes(etag), false);
  }
  return copy;
}

}  // namespace

std::string LocalCopy(const std::string& path) { return IsUrl(path) ? Fetch(path) : path; }

std::optional<std::string> FindLocalCopy(const std::string& path) {
  if (!IsUrl(path)) return PosixFiles().Exists(path) ? std::optional(path) : std::nullopt;
  try {
    return Fetch(path);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return {};
    throw;
  }
}

}  // namespace recpack::remote
