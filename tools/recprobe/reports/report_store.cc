#include "tools/recprobe/reports/report_store.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"
#include "tools/recprobe/job.h"

namespace recpack::tool {
namespace {

using Existing = remote::Upload::Existing;

constexpr const char* kReportName = "report.json";

void Put(const std::string& url, const std::string& text, Existing existing) {
  remote::Upload upload(url);
  upload.Write(AsBytes(text));
  upload.Finish(existing);
}

// The first file settles whose the folder is: no listing could, while others write.
void PutAll(const std::string& url, const std::vector<probe::ReportFile>& contents,
            Existing existing) {
  for (const probe::ReportFile& file : contents) {
    Put(url + "/" + file.name, file.text, std::exchange(existing, Existing::kReplace));
  }
}

// A report that is replaced while it is read is read again.
probe::KeptReport FetchWhole(const std::string& url) {
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    try {
      return probe::ReadReport(remote::DataFiles(), url);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt || i == kTries) throw;
    }
  }
}

void RefuseWebServer(const std::string& url) {
  if (!remote::IsWebUrl(url)) return;
  throw Error(ErrorKind::kUnsupported, "a web server has no listing of files",
              {.path = remote::WithoutSecrets(url)},
              "copy the reports, or name a folder of an object store");
}

std::vector<std::string> ReportsBelow(const std::string& url) {
  RefuseWebServer(url);
  std::vector<std::string> urls;
  for (const remote::ListedObject& object : remote::ListBelow(remote::WithoutLastSlash(url))) {
    if (object.name() == kReportName) urls.push_back(object.url);
  }
  return urls;
}

}  // namespace

void CheckReportPlace(const std::string& folder) {
  if (!remote::IsUrl(folder)) return probe::CheckReportFolder(folder);
  const std::string url = remote::WithoutLastSlash(folder);
  remote::CheckWritable(remote::ParseUrl(url));
  const remote::StoreFolder there = remote::ListStoreFolder(url);
  if (there.objects.empty() && there.folders.empty()) return;
  throw Error(ErrorKind::kInvalidArgument, "exists and is not an empty folder", {.path = url},
              "name a new folder for the report");
}

std::string PlaceReport(const std::string& folder, const std::vector<probe::ReportFile>& contents,
                        const std::string& earlier) {
  if (!remote::IsUrl(folder)) {
    return probe::WriteReportFiles(PosixFiles(), folder, contents, earlier);
  }
  if (!earlier.empty()) {
    PutAll(earlier, contents, Existing::kReplace);
    return earlier;
  }
  std::string url = remote::WithoutLastSlash(folder);
  try {
    PutAll(url, contents, Existing::kRefuse);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    url += format("-{}-{}", OwnHost(), ::getpid());
    PutAll(url, contents, Existing::kRefuse);
  }
  return url;
}

probe::KeptReport FetchReport(const std::string& report) {
  if (!remote::IsUrl(report)) return probe::ReadReport(PosixFiles(), report);
  const bool is_file = remote::WithoutQuery(report).ends_with(".json");
  return FetchWhole(is_file ? report : remote::WithoutLastSlash(report) + "/" + kReportName);
}

void CheckReportsFolder(const std::string& folder) {
  if (remote::IsUrl(folder)) {
    RefuseWebServer(folder);
    remote::ListStoreFolder(remote::WithoutLastSlash(folder));
    return;
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder, ignored)) return;
  throw Error(ErrorKind::kInvalidArgument, "is not a folder", {.path = folder},
              "name the folder that contains the reports");
}

probe::FoundReports FetchReports(const std::string& folder) {
  if (!remote::IsUrl(folder)) return probe::FindReports(PosixFiles(), folder);
  const std::vector<std::string> urls = ReportsBelow(folder);
  if (urls.empty()) throw probe::NoReports(folder);
  constexpr size_t kAtOnce = 32;  // requests under way
  size_t expected = 0, read = 0;
  return probe::ReadReports(urls, [&](const std::string& url) {
    for (++read; expected < std::min(read + kAtOnce, urls.size()); ++expected) {
      remote::WillOpen(urls[expected]);
    }
    return FetchWhole(url);
  });
}

}  // namespace recpack::tool
