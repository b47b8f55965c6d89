#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/probe/report.h"
#include "src/base/format.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

// Without a slash at its end.
fs::path Named(const std::string& folder) {
  fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void MakeFolder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw SystemError("cannot make the folder", folder.string(), code.value());
}

void Write(FileSystem& files, const fs::path& path, const std::string& text) {
  const auto file = files.Create(path.string());
  file->Write(AsBytes(text));
  file->Sync();
  file->Close();
}

}  // namespace

void CheckReportFolder(const std::string& folder) {
  const fs::path path = Named(folder);
  std::error_code code;
  if (fs::exists(path, code) && !(fs::is_directory(path, code) && fs::is_empty(path, code))) {
    throw Error(ErrorKind::kInvalidArgument, "is there already, and no empty folder",
                {.path = path.string()}, "name a new folder for the report");
  }
  MakeFolder(path.parent_path());
  if (::access(path.parent_path().c_str(), W_OK | X_OK) != 0) {
    throw SystemError("cannot write into", path.parent_path().string(), errno);
  }
}

void WriteReportFiles(FileSystem& files, const std::string& folder,
                      const std::vector<ReportFile>& contents) {
  const fs::path path = Named(folder);
  const fs::path temporary = format("{}.tmp-{}", path.string(), ::getpid());
  try {
    MakeFolder(temporary);
    for (const ReportFile& file : contents) Write(files, temporary / file.name, file.text);
    files.Rename(temporary.string(), path.string(), true);
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw Error(error.kind(), "no report was written: " + error.reason(), {.path = path.string()},
                error.advice());
  }
}

}  // namespace recpack
