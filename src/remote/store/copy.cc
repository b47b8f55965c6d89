#include "src/remote/store/copy.h"

#include "src/remote/http/retry.h"
#include "src/remote/http/xml.h"
#include "src/remote/store/remote_file.h"
#include "src/remote/store/sequential_file.h"
#include "src/remote/store/service.h"
#include "src/remote/store/upload.h"
#include "src/remote/store/write_answers.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

// S3 copies up to 5 GB by one request, but says nothing meanwhile, and is then taken for stalled.
constexpr uint64_t kMostInStore = uint64_t{1} << 30;

// Returns false if the store knows no copies.
bool CopyInStore(const std::string& from, const std::string& to) {
  const Url source = ParseUrl(from), target = ParseUrl(to);
  const Service& service = Service::ForScheme(target.scheme);
  const auto make = [&] { return service.Make("PUT", target, {service.CopyOf(source)}); };
  const auto answer = SendWithRetries(make, {}, RefuseLateError, to);
  if (answer->status() == 501) return false;
  if (!answer->ok()) throw service.ToError(*answer, from);
  // A store that does not know the header has made an empty object.
  return !FirstElement(answer->text(), "ETag").empty();
}

}  // namespace

void CopyObject(const std::string& from, const std::string& to, uint64_t bytes) {
  CheckWritable(ParseUrl(to));
  if (bytes <= kMostInStore && CopyInStore(from, to)) return;
  const RemoteFile object(from);
  Upload upload(to);
  WriteFile(SequentialFile(object), upload);
  upload.Finish(Upload::Existing::kReplace);
}

}  // namespace recpack::remote
