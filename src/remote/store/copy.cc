#include "src/remote/store/copy.h"

#include "src/remote/http/retry.h"
#include "src/remote/store/remote_file.h"
#include "src/remote/store/sequential_file.h"
#include "src/remote/store/service.h"
#include "src/remote/store/upload.h"
#include "src/remote/store/write_answers.h"
#include "src/remote/store/xml.h"
#include "src/remote/url/percent.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

// S3 copies up to 5 GB by one request, but says nothing meanwhile, and is then taken for stalled.
constexpr uint64_t kMostInStore = uint64_t{1} << 30;

// Returns false if the store knows no copies.
bool CopyInStore(const std::string& from, const std::string& to) {
  const Url source = ParseUrl(from), target = ParseUrl(to);
  const Service& service = Service::ForScheme(target.scheme);
  // For gs:// as well: requests that are signed as for AWS may not have headers of Google's kind.
  const Headers headers = {{"x-amz-copy-source", "/" + PercentEncode(source.host, false) + "/" +
                                                     PercentEncode(source.path, true)}};
  const auto answer = SendWithRetries([&] { return service.Make("PUT", target, headers); }, {},
                                      RefuseLateError, to);
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
