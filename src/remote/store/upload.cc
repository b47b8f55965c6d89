#include "src/remote/store/upload.h"

#include <unistd.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/retry.h"
#include "src/remote/http/xml.h"
#include "src/remote/store/object.h"
#include "src/remote/store/write_answers.h"
#include "src/remote/url/percent.h"

namespace recpack::remote {
namespace {

// S3 takes 10,000 parts of 5 MiB or more; R2 takes parts of one size only, but for the last.
constexpr size_t kPartBytes = size_t{8} << 20;
constexpr size_t kMostParts = 10'000;
constexpr size_t kMostUnderWay = 2;

std::shared_ptr<Exchange> Send(const MakeRequest& make, const RefuseAnswer& refuse,
                               const std::string& path) {
  return SendWithRetries(make, {}, refuse, path);
}

}  // namespace

void CheckWritable(const Url& url) {
  if (!url.scheme.starts_with("http")) return;
  throw Error(ErrorKind::kUnsupported, "a web server takes no objects",
              {.path = url.scheme + "://" + url.host + "/" + url.path},
              "give an s3:// or gs:// URL");
}

Upload::Upload(const std::string& url, Kind kind)
    : process_(::getpid()),
      path_(url),
      url_(ParseUrl(url)),
      service_(Service::ForScheme(url_.scheme)),
      kind_(kind) {
  CheckWritable(url_);
}

Upload::~Upload() {
  // A forked child has neither the parent's requests nor its upload.
  if (finished_ || id_.empty() || process_ != ::getpid()) return;
  for (const Part& part : under_way_) part.exchange->Wait();
  try {
    Send([&] { return Make("DELETE", {{"uploadId", id_}}, {}, {}); }, nullptr, path_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next pack removes it
  }
}

void Upload::Write(ByteView bytes) {
  if (kind_ == Kind::kWhole) {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bytes_ += bytes.size();
    return;
  }
  while (!bytes.empty()) {
    const size_t some = std::min(bytes.size(), kPartBytes - buffer_.size());
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), some);
    bytes = bytes.subspan(some);
    bytes_ += some;
    // The last part is sent by Finish(): it may be the only one.
    if (buffer_.size() == kPartBytes && !bytes.empty()) SendPart();
  }
}

void Upload::Start() {
  const auto answer = Send([&] { return Make("POST", {{"uploads", ""}}, {}, {}); }, nullptr, path_);
  if (!answer->ok()) throw service_.ToError(*answer, path_);
  id_ = FirstElement(answer->text(), "UploadId");
  if (id_.empty()) {
    throw Error(ErrorKind::kIo, "the store gave no upload id", {.path = WithoutSecrets(path_)});
  }
}

void Upload::SendPart() {
  if (id_.empty()) Start();
  const size_t number = tags_.size() + under_way_.size() + 1;
  if (number > kMostParts) {
    throw Error(ErrorKind::kInvalidArgument,
                format("larger than {} parts of {} bytes", kMostParts, kPartBytes),
                {.path = WithoutSecrets(path_)}, "make smaller shards");
  }
  if (under_way_.size() == kMostUnderWay) AwaitOldest();
  auto exchange = std::make_shared<Exchange>(Make(
      "PUT", {{"partNumber", std::to_string(number)}, {"uploadId", id_}}, {}, std::move(buffer_)));
  buffer_ = {};
  Reactor::Get().Start(exchange);
  under_way_.push_back({std::move(exchange), static_cast<uint32_t>(number)});
}

void Upload::AwaitOldest() {
  const Part part = std::move(under_way_.front());
  under_way_.pop_front();
  const auto again = [&] {
    return Make("PUT", {{"partNumber", std::to_string(part.number)}, {"uploadId", id_}}, {},
                part.exchange->request().body);
  };
  const auto answer = SendWithRetries(again, {}, nullptr, path_, part.exchange);
  if (!answer->ok()) throw service_.ToError(*answer, path_);
  tags_.push_back(answer->Header("etag"));
}

void Upload::Finish(Existing existing, const std::string& advice) {
  Headers condition;
  if (existing == Existing::kRefuse) condition.push_back(service_.OnlyIfNew());
  FinishIf(condition, advice);
}

void Upload::FinishInPlaceOf(const Object& there, const std::string& advice) {
  FinishIf({there.OnlyInItsPlace()}, advice);
}

void Upload::FinishIf(const Headers& condition, const std::string& advice) {
  if (id_.empty()) {
    Put(condition, advice);
  } else {
    if (!buffer_.empty()) SendPart();
    while (!under_way_.empty()) AwaitOldest();
    Complete();
  }
  finished_ = true;
}

void Upload::Put(const Headers& condition, const std::string& advice) {
  const auto answer =
      Send([&] { return Make("PUT", {}, condition, buffer_); }, RefuseConflict, path_);
  const bool removed = answer->status() == 404 && !condition.empty() &&
                       FirstElement(answer->text(), "Code") == "NoSuchKey";
  if (answer->status() == 412 || removed) return RefuseOther(buffer_, advice);
  if (!answer->ok()) throw service_.ToError(*answer, path_);
}

void Upload::Complete() {
  std::string body = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < tags_.size(); ++i) {
    body += format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, tags_[i]);
  }
  body += "</CompleteMultipartUpload>";
  const auto answer = Send(
      [&] {
        return Make("POST", {{"uploadId", id_}}, {}, body);
      },
      RefuseLateError, path_);
  if (answer->ok()) return;
  // The answer to an earlier try may have been lost.
  if (answer->status() == 404 && Object(path_).size() == bytes_) return;
  throw service_.ToError(*answer, path_);
}

void Upload::RefuseOther(const std::string& content, const std::string& advice) const {
  try {
    const Object there(path_);
    const bool same_size = there.size() == content.size();
    if (same_size && std::ranges::equal(there.Content(), AsBytes(content))) {
      return;  // of an earlier try
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    throw Error(ErrorKind::kInvalidArgument, "another job removed this object meanwhile",
                {.path = WithoutSecrets(path_)}, advice);
  }
  throw Error(ErrorKind::kInvalidArgument, "another job wrote this object meanwhile",
              {.path = WithoutSecrets(path_)}, advice);
}

void WriteFile(const ReadableFile& file, Upload& upload) {
  ByteBuffer buffer(size_t{1} << 20);
  for (uint64_t at = 0; at < file.Size();) {
    const size_t some = file.ReadAt(at, buffer);
    if (some == 0) {
      throw Error(ErrorKind::kIo, "became shorter while it was read",
                  {.path = WithoutSecrets(file.path())});
    }
    upload.Write(ByteView(buffer).first(some));
    at += some;
  }
}

void WriteObject(const std::string& url, ByteView bytes) {
  Upload upload(url);
  upload.Write(bytes);
  upload.Finish(Upload::Existing::kReplace);
}

void RemoveObject(const std::string& url) {
  const Url parsed = ParseUrl(url);
  const Service& service = Service::ForScheme(parsed.scheme);
  const auto answer = Send([&] { return service.Make("DELETE", parsed, {}); }, nullptr, url);
  if (!answer->ok() && answer->status() != 404) throw service.ToError(*answer, url);
}

void RemoveUploads(const std::string& url, const std::function<bool(const std::string&)>& is_ours) {
  const Url folder = ParseUrl(url);
  const Service& service = Service::ForScheme(folder.scheme);
  const std::string prefix = folder.path.empty() ? "" : folder.path + "/";
  Headers query = {{"uploads", ""}, {"prefix", prefix}, {"encoding-type", "url"}};
  for (;;) {
    const auto answer = Send([&] { return service.MakeForBucket(folder, query); }, nullptr, url);
    // Some stores say so if there are none, others have no such list.
    const bool is_none =
        answer->status() == 404 && FirstElement(answer->text(), "Code") == "NoSuchUpload";
    if (is_none || answer->status() == 405 || answer->status() == 501) return;
    if (!answer->ok()) throw service.ToError(*answer, url);
    for (const std::string_view upload : Elements(answer->text(), "Upload")) {
      const std::string key = FormDecode(FirstElement(upload, "Key"));
      if (!key.starts_with(prefix) || !is_ours(key.substr(prefix.size()))) continue;
      const Url object{folder.scheme, folder.host, key, ""};
      const std::string id = FirstElement(upload, "UploadId");
      Send(
          [&] {
            return service.MakeWithQuery("DELETE", object, {{"uploadId", id}});
          },
          nullptr, url);
    }
    if (FirstElement(answer->text(), "IsTruncated") != "true") return;
    query = {{"uploads", ""},
             {"prefix", prefix},
             {"encoding-type", "url"},
             {"key-marker", FormDecode(FirstElement(answer->text(), "NextKeyMarker"))},
             {"upload-id-marker", FirstElement(answer->text(), "NextUploadIdMarker")}};
  }
}

}  // namespace recpack::remote
