#include "src/remote/store/service.h"

#include <array>
#include <ctime>
#include <map>
#include <mutex>

#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/remote/http/per_process.h"
#include "src/remote/http/retry.h"
#include "src/remote/http/xml.h"
#include "src/remote/url/percent.h"

namespace recpack::remote {
namespace {

constexpr char kAllowHttp[] = "RECPACK_ALLOW_HTTP";
constexpr long kListMilliseconds = 3000;
constexpr uint64_t kMostBuckets = 1 << 20;  // bytes of their list

bool IsLoopback(std::string host) {
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  return host == "localhost" || host.starts_with("127.");
}

}  // namespace

const Service& Service::ForScheme(const std::string& scheme) {
  struct Services {
    std::mutex mutex;
    std::map<std::string, Service> by_scheme;  // guarded by mutex
  };
  static PerProcess<Services> process;
  Services& services = process.Get();
  const std::lock_guard lock(services.mutex);
  const auto found = services.by_scheme.find(scheme);
  if (found != services.by_scheme.end()) return found->second;
  StoreSettings settings;
  if (!scheme.starts_with("http")) settings = FindSettings(scheme, ProcessEnvironment);
  return services.by_scheme.try_emplace(scheme, scheme, std::move(settings)).first->second;
}

void Service::RenewCredentials() const noexcept {
  try {
    if (!is_web()) identity_.Get();
  } catch (...) {  // NOLINT(bugprone-empty-catch): as declared
  }
}

Service::Target Service::FindTarget(const Url& url, const std::string& key) const {
  const std::string path = "/" + PercentEncode(key, true);
  if (is_web()) return {scheme_ + "://" + url.host, url.host, "/" + url.path};
  const bool is_aws = identity_.settings().endpoint.empty();
  // A certificate for *.s3... covers one label.
  if (!is_aws || url.host.find('.') != std::string::npos) {
    return StoreTarget("/" + PercentEncode(url.host, false) + path);
  }
  const std::string host = url.host + "." + StoreTarget(path).host;
  return {"https://" + host, host, path};
}

Service::Target Service::StoreTarget(const std::string& path) const {
  const std::string& named = identity_.settings().endpoint;
  const Url endpoint = ParseUrl(
      named.empty() ? "https://s3." + identity_.settings().region + ".amazonaws.com" : named);
  return {endpoint.scheme + "://" + endpoint.host, endpoint.host, path};
}

void Service::AddPayer(const Credentials& credentials, Headers& headers) const {
  const StoreSettings& settings = identity_.settings();
  if (settings.dialect == Dialect::kAws) {
    if (!settings.payer.empty()) headers.emplace_back("x-amz-request-payer", settings.payer);
    return;
  }
  const std::string& project = settings.payer.empty() ? credentials.project : settings.payer;
  if (!project.empty()) headers.emplace_back("x-goog-user-project", project);
}

Request Service::Sign(const std::string& method, const Target& target, const Headers& query,
                      const Headers& more, std::string body) const {
  Request request{
      .method = method, .url = target.base + target.path, .headers = {}, .body = std::move(body)};
  if (const std::string text = CanonicalQuery(query); !text.empty()) request.url += "?" + text;
  std::optional<Credentials> credentials;
  if (!is_web()) credentials = identity_.Get();
  Headers headers = more;
  if (credentials) AddPayer(*credentials, headers);
  for (const auto& [name, value] : headers) request.headers.push_back(name + ": " + value);
  if (!credentials) return request;
  if (target.base.starts_with("http:") && !IsLoopback(target.host) &&
      ProcessEnvironment(kAllowHttp) != "1") {
    throw Error(ErrorKind::kInvalidArgument,
                "credentials would go over plain HTTP to " + target.host, {},
                format("use an https:// endpoint, or set {}=1", kAllowHttp));
  }
  if (credentials->access.empty()) {
    request.headers.push_back("authorization: Bearer " + credentials->token);
    return request;
  }
  const RequestToSign to_sign{
      .method = method,
      .host = target.host,
      .path = target.path,
      .query = query,
      .headers = headers,
      .payload_sha256 = request.body.empty() ? kEmptySha256 : HexSha256(request.body)};
  const Dialect dialect = identity_.settings().dialect;
  const SigningScope scope{.dialect = dialect,
                           .region = identity_.settings().region,
                           .service = dialect == Dialect::kGoogle ? "storage" : "s3",
                           .time = std::time(nullptr)};
  for (const auto& [name, value] : SignV4(to_sign, scope, *credentials)) {
    request.headers.push_back(name + ": " + value);
  }
  return request;
}

Request Service::Make(const std::string& method, const Url& url, const Headers& headers,
                      std::string body) const {
  Request request = Sign(method, FindTarget(url, url.path), {}, headers, std::move(body));
  if (!url.query.empty()) request.url += "?" + url.query;  // presigned
  return request;
}

Request Service::MakeWithQuery(const std::string& method, const Url& url, const Headers& query,
                               const Headers& headers, std::string body) const {
  return Sign(method, FindTarget(url, url.path), query, headers, std::move(body));
}

Request Service::MakeForBucket(const Url& url, const Headers& query) const {
  return Sign("GET", FindTarget(url, ""), query, {}, {});
}

std::pair<std::string, std::string> Service::CopyOf(const Url& source) const {
  return {ExtensionHeader(identity_.settings().dialect, "copy-source"),
          "/" + PercentEncode(source.host, false) + "/" + PercentEncode(source.path, true)};
}

std::pair<std::string, std::string> Service::OnlyIfNew() const {
  if (identity_.settings().dialect == Dialect::kGoogle) {
    return {"x-goog-if-generation-match", "0"};
  }
  return {"If-None-Match", "*"};
}

Error Service::ChangedError(const std::string& path) {
  return Error(ErrorKind::kCorrupt, "changed while it was read", {.path = WithoutSecrets(path)},
               "start again when nothing writes to it");
}

std::string Service::NearestBucket(const std::string& bucket) const {
  try {
    Request request = Sign("GET", StoreTarget("/"), {}, {}, {});
    request.most_text = kMostBuckets;
    const auto exchange = SendOnce(std::move(request), kListMilliseconds);
    if (!exchange->ok()) return {};
    std::vector<std::string> names;
    for (const std::string_view each : Elements(exchange->text(), "Bucket")) {
      names.emplace_back(FirstElement(each, "Name"));
    }
    return NearestName(bucket, names);
  } catch (const Error&) {
    return {};
  }
}

Error Service::ToError(const Exchange& exchange, const std::string& path) const {
  const Place place{.path = WithoutSecrets(path)};
  if (exchange.is_too_large() || exchange.has_endless_headers()) {
    return Error(ErrorKind::kIo, "the answer is larger than any should be", place,
                 "check the URL and the store's state");
  }
  const std::string code = FirstElement(exchange.text(), "Code");
  const std::string said = FirstElement(exchange.text(), "Message");
  std::string reason = format("HTTP status {}", exchange.status());
  if (!code.empty()) reason += ": " + code;
  if (!said.empty()) reason += " (" + said + ")";
  if (is_web() && exchange.status() != 404 && exchange.status() != 412) {
    const bool is_presigned = !ParseUrl(path).query.empty();
    return Error(ErrorKind::kIo, reason, place,
                 is_presigned ? "make a new URL: its signature may have ended"
                              : "check the URL: no credentials are sent to web servers");
  }
  const bool is_signed = !is_web() && identity_.Get().has_value();
  const std::string by = is_signed ? "credentials are those of " + identity_.source()
                                   : "no credentials were found, so the request was anonymous";
  // Stores send different statuses with the same code.
  if (code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired") {
    return Error(ErrorKind::kIo, "access was refused: " + reason, place, "log in again; " + by);
  }
  if (code == "RequestTimeTooSkewed") {
    return Error(ErrorKind::kIo, "access was refused: " + reason, place,
                 "set this machine's clock");
  }
  if (exchange.status() == 301 || exchange.status() == 307 || code == "PermanentRedirect" ||
      code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException") {
    std::string region = FirstElement(exchange.text(), "Region");
    if (region.empty()) region = exchange.Header("x-amz-bucket-region");
    return Error(ErrorKind::kIo, reason, place,
                 "set AWS_REGION to the bucket's region" + (region.empty() ? "" : ", " + region) +
                     "; " + by);
  }
  switch (exchange.status()) {
    case 404: {
      if (code != "NoSuchBucket") {
        return Error(ErrorKind::kNotFound, "there is no such object", place, "check the name");
      }
      const std::string nearest = NearestBucket(ParseUrl(path).host);
      return Error(
          ErrorKind::kNotFound, "there is no such bucket", place,
          nearest.empty() ? "check the name" : format("did you mean {}://{}?", scheme_, nearest));
    }
    case 401:
    case 403:
      return Error(ErrorKind::kIo, "access was refused: " + reason, place, by);
    case 412:
      return ChangedError(path);
    default:
      return Error(ErrorKind::kIo, reason, place, "check the URL and the store's state");
  }
}

}  // namespace recpack::remote
