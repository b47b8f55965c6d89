#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/report/kept_report.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

// Tells whether a folder is one in which a report is being written (report_files.cc).
bool IsTemporary(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const size_t end = name.rfind(".tmp-");
  return end != std::string::npos &&
         name.find_first_not_of("0123456789", end + 5) == std::string::npos;
}

// Returns paths of report.json files, sorted. Folders that cannot be read are added to `left_out`.
std::vector<std::string> PathsBelow(const std::string& folder, std::vector<LeftOut>& left_out) {
  std::vector<std::string> paths;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    std::error_code code;
    for (fs::directory_iterator entry(at, code), end; !code && entry != end;
         entry.increment(code)) {
      std::error_code ignored;
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
        if (!IsTemporary(entry->path())) folders.push_back(entry->path());
      } else if (entry->path().filename() == "report.json") {
        paths.push_back(entry->path());
      }
    }
    if (code) left_out.push_back({at, "cannot be read: " + code.message()});
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Identifies a run: only copies of a report have all of it in common.
auto Identity(const KeptReport& report) {
  const Job& job = report.job;
  return std::make_tuple(job.host, job.process, job.begin.value_or(0), job.name, job.seconds,
                         job.rank.value_or(-1), report.verdict.steps);
}

}  // namespace

FoundReports ReadReports(const std::vector<std::string>& paths, const ReportReader& read) {
  FoundReports found;
  std::map<decltype(Identity(KeptReport())), std::string> known;
  for (const std::string& path : paths) {
    try {
      KeptReport report = read(path);
      const auto [first, is_new] = known.emplace(Identity(report), path);
      if (is_new) {
        found.reports.push_back(std::move(report));
      } else {
        found.left_out.push_back({path, format("is the same report as {}", first->second)});
      }
    } catch (const Error& error) {
      found.left_out.push_back({path, error.reason()});
    }
  }
  return found;
}

FoundReports FindReports(FileSystem& files, const std::string& folder) {
  if (!fs::is_directory(folder)) {
    throw Error(ErrorKind::kNotFound, "is not a folder", {.path = folder},
                "name the folder that contains the reports");
  }
  std::vector<LeftOut> unread;
  const std::vector<std::string> paths = PathsBelow(folder, unread);
  if (paths.empty()) throw NoReports(folder);
  FoundReports found =
      ReadReports(paths, [&](const std::string& path) { return ReadReport(files, path); });
  found.left_out.insert(found.left_out.begin(), unread.begin(), unread.end());
  return found;
}

Error NoReports(const std::string& folder) {
  return {ErrorKind::kNotFound,
          "has no report.json in or below it",
          {.path = folder},
          "recprobe run --report FOLDER writes one"};
}

}  // namespace recpack::probe
