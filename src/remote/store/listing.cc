#include "src/remote/store/listing.h"

#include <algorithm>
#include <charconv>

#include "recpack/base/error.h"
#include "src/remote/http/retry.h"
#include "src/remote/http/xml.h"
#include "src/remote/store/service.h"
#include "src/remote/url/percent.h"

namespace recpack::remote {
namespace {

// Largest page: 1,000 names of 1,024 bytes, each of which may be encoded by three.
constexpr uint64_t kMostListing = 16 << 20;

uint64_t ToNumber(const std::string& text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string RefuseCut(const Exchange& exchange) {
  const bool ends = exchange.text().find("</ListBucketResult>") != std::string::npos;
  return !exchange.ok() || ends ? "" : "the listing has no end";
}

// `delimiter`: what ends a name; empty: all objects below are listed.
StoreFolder List(const std::string& text, const std::string& delimiter) {
  const Url url = ParseUrl(text);
  if (url.scheme.starts_with("http")) {
    throw Error(ErrorKind::kUnsupported, "a web server has no listing of files",
                {.path = WithoutSecrets(text)},
                "name the shards, or a folder that has a manifest.json");
  }
  const Service& service = Service::ForScheme(url.scheme);
  const std::string prefix = url.path.empty() ? "" : url.path + "/";
  StoreFolder folder;
  std::string token;
  do {
    // Names come percent-encoded: XML cannot hold all characters of a key.
    Headers query = {{"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (!delimiter.empty()) query.emplace_back("delimiter", delimiter);
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const auto make = [&] {
      Request request = service.MakeForBucket(url, query);
      request.most_text = kMostListing;
      return request;
    };
    const auto answer = SendWithRetries(make, {}, RefuseCut, text);
    if (!answer->ok()) throw service.ToError(*answer, text);
    for (const std::string_view object : Elements(answer->text(), "Contents")) {
      const std::string key = FormDecode(FirstElement(object, "Key"));
      if (key == prefix) continue;  // a marker of the folder itself
      folder.objects.push_back(
          {url.scheme + "://" + url.host + "/" + key, ToNumber(FirstElement(object, "Size"))});
    }
    for (const std::string_view common : Elements(answer->text(), "CommonPrefixes")) {
      const std::string key = FormDecode(FirstElement(common, "Prefix"));
      const size_t size = key.size() - std::min(key.size(), prefix.size());
      if (size > 1) folder.folders.push_back(key.substr(prefix.size(), size - 1));
    }
    token = FirstElement(answer->text(), "IsTruncated") == "true"
                ? FirstElement(answer->text(), "NextContinuationToken")
                : "";
  } while (!token.empty());
  return folder;
}

}  // namespace

StoreFolder ListStoreFolder(const std::string& url) { return List(url, "/"); }

std::vector<ListedObject> ListBelow(const std::string& url) { return List(url, "").objects; }

std::vector<ListedObject> ListFolder(const std::string& url) {
  return ListStoreFolder(url).objects;
}

}  // namespace recpack::remote
