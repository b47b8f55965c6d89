// Uploads to object stores: objects that are written in parts while they are made.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "src/remote/http/exchange.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {

class Object;

// Throws Error (kUnsupported) if no objects can be written there: on a web server.
void CheckWritable(const Url& url);

// Sends parts of 8 MiB as they fill up (S3's multipart upload), a smaller object with one request.
// The object is visible once Finish() returns, never in part. Not thread-safe.
class Upload {
 public:
  // kWhole: by one request, from memory, however large. Only such an object is written on a
  // condition: Google's store takes none where parts are joined.
  enum class Kind : uint8_t { kInParts, kWhole };
  // `url`: s3:// or gs://. Throws as CheckWritable().
  explicit Upload(const std::string& url, Kind kind = Kind::kInParts);
  // Removes the parts that were sent if it is not finished; ignores errors.
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // Appends bytes. Blocks while two parts are under way. Throws Error: kIo; kInvalidArgument for
  // more than 10,000 parts.
  void Write(ByteView bytes);

  uint64_t bytes() const noexcept { return bytes_; }

  enum class Existing : uint8_t { kReplace, kRefuse };
  // Makes the object visible. Call once. With kRefuse, which needs kWhole: throws Error
  // (kInvalidArgument) if there is another object of this name by then; one with the same content
  // is taken for this one. `advice`: of that error.
  void Finish(Existing existing,
              const std::string& advice = "choose another folder, or remove what is there");
  // Makes an object of kWhole visible in the place of that one. Call once. Throws Error
  // (kInvalidArgument) if there is none or another by then, unless it has the same content.
  // `advice`: of that error.
  void FinishInPlaceOf(
      const Object& there,
      const std::string& advice = "give the same command again; what is complete is kept");

 private:
  struct Part {
    std::shared_ptr<Exchange> exchange;
    uint32_t number;
  };

  void SendPart();
  void AwaitOldest();
  void Start();
  void FinishIf(const Headers& condition, const std::string& advice);
  void Put(const Headers& condition, const std::string& advice);
  void Complete();
  void RefuseOther(const std::string& content, const std::string& advice) const;
  Request Make(const std::string& method, const Headers& query, const Headers& headers,
               std::string body) const {
    return service_.MakeWithQuery(method, url_, query, headers, std::move(body));
  }

  const pid_t process_;
  const std::string path_;
  const Url url_;
  const Service& service_;
  const Kind kind_;
  std::string buffer_;
  std::string id_;  // of the multipart upload; empty: not started
  std::deque<Part> under_way_;
  std::vector<std::string> tags_;  // ETags of the parts, in order
  uint64_t bytes_ = 0;
  bool finished_ = false;
};

// A file that goes to a store as it is written. Whoever made the upload finishes it.
class UploadedFile final : public WritableFile {
 public:
  UploadedFile(std::string path, std::shared_ptr<Upload> upload)
      : path_(std::move(path)), upload_(std::move(upload)) {}

  void Write(ByteView bytes) override { upload_->Write(bytes); }
  void Sync() override {}
  void Close() override {}
  const std::string& path() const noexcept override { return path_; }

 private:
  const std::string path_;
  const std::shared_ptr<Upload> upload_;
};

// Appends all of a file. Throws as Upload::Write(), and what reading throws.
void WriteFile(const ReadableFile& file, Upload& upload);

// Writes an object from memory; replaces what is there. Throws as Upload().
void WriteObject(const std::string& url, ByteView bytes);

// Removes an object; nothing happens if there is none. Throws Error (kIo).
void RemoveObject(const std::string& url);

// Removes the unfinished uploads directly in the "folder" `url` whose object's name `is_ours`
// accepts. Throws Error (kIo).
void RemoveUploads(const std::string& url, const std::function<bool(const std::string&)>& is_ours);

}  // namespace recpack::remote
