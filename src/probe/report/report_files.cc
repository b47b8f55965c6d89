#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/base/format.h"
#include "src/probe/report/report.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

void Write(FileSystem& files, const fs::path& path, const std::string& text) {
  const auto file = files.Create(path.string());
  file->Write(AsBytes(text));
  file->Sync();
  file->Close();
}

// Dangling links exist as well.
bool IsThere(const fs::path& path) {
  std::error_code code;
  return fs::exists(fs::symlink_status(path, code));
}

bool IsEmptyFolder(const fs::path& path) {
  std::error_code code;
  return fs::is_directory(path, code) && fs::is_empty(path, code);
}

bool IsTaken(const fs::path& path) { return IsThere(path) && !IsEmptyFolder(path); }

Error Taken(const fs::path& path) {
  return {ErrorKind::kInvalidArgument,
          "exists and is not an empty folder",
          {.path = path.string()},
          "name a new folder for the report"};
}

void Remove(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void WriteAll(FileSystem& files, const fs::path& folder, const std::vector<ReportFile>& contents) {
  MakeFolder(folder.string());
  for (const ReportFile& file : contents) Write(files, folder / file.name, file.text);
}

void WriteNewFolder(FileSystem& files, const fs::path& path,
                    const std::vector<ReportFile>& contents) {
  const fs::path temporary = format("{}.tmp-{}", path.string(), ::getpid());
  try {
    WriteAll(files, temporary, contents);
    files.Rename(temporary.string(), path.string(), true);
  } catch (...) {
    Remove(temporary);
    throw;
  }
}

// Fills an existing folder in place: it may be a mount point or a link, which cannot be replaced.
void FillFolder(FileSystem& files, const fs::path& path, const std::vector<ReportFile>& contents,
                bool replaces = false) {
  const fs::path temporary = path / format(".tmp-{}", ::getpid());
  size_t there = 0;  // files that were moved into the folder
  try {
    WriteAll(files, temporary, contents);
    for (; there < contents.size(); ++there) {
      const std::string& name = contents[there].name;
      files.Rename((temporary / name).string(), (path / name).string(), true);
    }
  } catch (...) {
    for (size_t i = 0; i < there && !replaces; ++i) Remove(path / contents[i].name);
    Remove(temporary);
    throw;
  }
  Remove(temporary);
}

Error NotWritten(const fs::path& path, const Error& error, const char* what) {
  return {error.kind(),
          format("{}: {}", what, error.reason()),
          {.path = path.string()},
          error.advice()};
}

void Put(FileSystem& files, const fs::path& path, const std::vector<ReportFile>& contents) {
  if (IsTaken(path)) throw Taken(path);
  IsThere(path) ? FillFolder(files, path, contents) : WriteNewFolder(files, path, contents);
}

void Replace(FileSystem& files, const std::string& folder,
             const std::vector<ReportFile>& contents) {
  try {
    FillFolder(files, folder, contents, true);
  } catch (const Error& error) {
    throw NotWritten(folder, error, "the report was not replaced");
  }
}

}  // namespace

void CheckReportFolder(const std::string& folder) {
  const fs::path path = PlainPath(folder);
  const bool is_there = IsThere(path);
  if (IsTaken(path)) throw Taken(path);
  if (!is_there) MakeFolder(path.parent_path().string());
  const std::string into = is_there ? path.string() : path.parent_path().string();
  if (::access(into.c_str(), W_OK | X_OK) != 0) throw SystemError("cannot write into", into, errno);
}

std::string WriteReportFiles(FileSystem& files, const std::string& folder,
                             const std::vector<ReportFile>& contents, const std::string& earlier) {
  if (!earlier.empty()) {
    Replace(files, earlier, contents);
    return earlier;
  }
  fs::path path = PlainPath(folder);
  try {
    try {
      Put(files, path, contents);
      return path.string();
    } catch (const Error&) {
      if (!IsTaken(path)) throw;
    }
    path += format("-{}", ::getpid());
    Put(files, path, contents);
    return path.string();
  } catch (const Error& error) {
    throw NotWritten(path, error, "no report was written");
  }
}

}  // namespace recpack::probe
