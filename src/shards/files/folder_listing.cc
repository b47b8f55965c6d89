#include "src/shards/files/folder_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>

#include "recpack/base/error.h"
#include "src/remote/store/listing.h"
#include "src/remote/url/url.h"

namespace recpack {
namespace {

int OpenFolderAt(int parent, const std::string& path, const std::string& full_path) {
  const int fd = ::openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOTDIR) {
    throw Error(ErrorKind::kInvalidArgument, "is not a folder", {.path = full_path});
  }
  if (fd < 0) throw SystemError("cannot open", full_path, errno);
  return fd;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

void SortListing(FolderListing& listing) {
  std::ranges::sort(listing.folders);
  std::ranges::sort(listing.files, [names = listing.names.data()](auto& a, auto& b) {
    return std::strcmp(names + a.name, names + b.name) < 0;
  });
}

class Lister {
 public:
  Lister(int fd, std::string full_path) : path_(std::move(full_path)), folder_(::fdopendir(fd)) {
    if (folder_ == nullptr) {
      const int error_number = errno;
      ::close(fd);
      throw SystemError("cannot list", path_, error_number);
    }
  }

  FolderListing Run() {
    struct stat status;
    if (::fstat(::dirfd(folder_.get()), &status) != 0)
      throw SystemError("cannot stat", path_, errno);
    listing_.identity.emplace(status.st_dev, status.st_ino);
    for (errno = 0; const dirent* entry = ::readdir(folder_.get()); errno = 0) Add(*entry);
    if (errno != 0) throw SystemError("cannot list", path_, errno);
    SortListing(listing_);
    return std::move(listing_);
  }

 private:
  void Add(const dirent& entry) {
    const char* name = entry.d_name;
    if (name[0] == '.') {
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) ++listing_.hidden;
      return;
    }
    if (entry.d_type == DT_DIR) return listing_.folders.emplace_back(name), void();
    struct stat status;
    if (::fstatat(::dirfd(folder_.get()), name, &status, 0) != 0) {
      if (errno != ENOENT && errno != ELOOP)
        throw SystemError("cannot stat", path_ + "/" + name, errno);
      return AddFile(name, 0);
    }
    if (S_ISDIR(status.st_mode)) return listing_.folders.emplace_back(name), void();
    if (S_ISREG(status.st_mode)) return AddFile(name, static_cast<uint64_t>(status.st_size));
    ++listing_.special_files;
  }

  void AddFile(const char* name, uint64_t size) {
    listing_.files.push_back({.size = size, .name = listing_.names.size()});
    listing_.names.append(name, std::strlen(name) + 1);
  }

  std::string path_;
  std::unique_ptr<DIR, CloseFolder> folder_;
  FolderListing listing_;
};

FolderListing ListRemote(const std::string& url) {
  const remote::StoreFolder folder = remote::ListStoreFolder(url);
  FolderListing listing;
  const auto is_shown = [&](std::string_view name) {
    if (name.starts_with('.')) ++listing.hidden;
    return !name.empty() && name.front() != '.';
  };
  for (const remote::ListedObject& object : folder.objects) {
    const std::string name = object.name();
    if (!is_shown(name)) continue;
    listing.files.push_back({.size = object.bytes, .name = listing.names.size()});
    listing.names.append(name.c_str(), name.size() + 1);
  }
  std::ranges::copy_if(folder.folders, std::back_inserter(listing.folders), is_shown);
  SortListing(listing);
  return listing;
}

}  // namespace

FolderTree::FolderTree(const std::string& path)
    : root_path_(path),
      is_remote_(remote::IsUrl(path)),
      root_(is_remote_ ? -1 : OpenFolderAt(AT_FDCWD, path, path)) {
  while (root_path_.size() > 1 && root_path_.back() == '/') root_path_.pop_back();
}

FolderListing FolderTree::List(const std::string& path) const {
  const std::string full_path = FullPath(path);
  if (is_remote_) return ListRemote(full_path);
  return Lister(OpenFolderAt(root_.get(), path.empty() ? "." : path, full_path), full_path).Run();
}

std::string FolderTree::FullPath(const std::string& path) const {
  return path.empty() ? root_path_ : root_path_ + "/" + path;
}

}  // namespace recpack
