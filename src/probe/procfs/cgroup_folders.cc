#include "src/probe/procfs/cgroup_folders.h"

#include "src/probe/procfs/scanner.h"

namespace recpack::probe {
namespace {

struct Mount {
  bool version_2 = false;
  std::string_view root;     // part of the hierarchy that it shows
  std::string_view point;    // mount point
  std::string_view options;  // "rw,cpu,cpuacct"
};

bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    if (item == word) return true;
    list.remove_prefix(item.size() == list.size() ? item.size() : item.size() + 1);
  }
  return false;
}

// "31 23 0:28 ROOT POINT rw,relatime shared:1 - cgroup SOURCE OPTIONS"
std::vector<Mount> CgroupMounts(std::string_view text) {
  std::vector<Mount> mounts;
  Scanner lines(text);
  while (!lines.done()) {
    Scanner line(lines.Line());
    for (int i = 0; i < 3; ++i) line.Word();
    Mount mount;
    mount.root = line.Word();
    mount.point = line.Word();
    std::string_view word = line.Word();
    while (!word.empty() && word != "-") word = line.Word();
    const std::string_view kind = line.Word();
    line.Word();
    mount.options = line.Word();
    mount.version_2 = kind == "cgroup2";
    if (mount.version_2 || kind == "cgroup") mounts.push_back(mount);
  }
  return mounts;
}

// Lines are "4:memory:/a/b", in version 2 "0::/a/b". Returns the path, empty without such a line.
std::string_view FindPath(std::string_view membership, std::string_view controller) {
  Scanner lines(membership);
  while (!lines.done()) {
    const std::string_view line = lines.Line();
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool it = controller.empty() ? controllers.empty() && line.starts_with("0:")
                                       : HasWord(controllers, controller);
    if (it) return line.substr(second + 1);
  }
  return {};
}

ControllerFolders FoldersBelow(const Mount& mount, std::string_view path, const std::string& sys) {
  ControllerFolders found = {.version_2 = mount.version_2, .path = std::string(path)};
  constexpr std::string_view kSys = "/sys";
  std::string top(mount.point);
  if (mount.point.starts_with(kSys)) top = sys + top.substr(kSys.size());
  // A container may see its own group as the root of the hierarchy, under the outer path.
  std::string_view below = path;
  if (mount.root != "/") {
    below = path.starts_with(mount.root) ? path.substr(mount.root.size()) : std::string_view();
  }
  if (below.find("/..") != std::string_view::npos) below = {};  // outside the mount
  while (below.size() > 1) {
    found.folders.push_back(top + std::string(below));
    below = below.substr(0, below.rfind('/'));
  }
  found.folders.push_back(top);
  return found;
}

}  // namespace

CgroupFolders FindCgroupFolders(std::string_view membership, std::string_view mounts,
                                const std::string& sys) {
  const std::vector<Mount> all = CgroupMounts(mounts);
  const auto version_2 = [&] {
    const std::string_view path = FindPath(membership, "");
    for (const Mount& mount : all) {
      if (mount.version_2 && !path.empty()) return FoldersBelow(mount, path, sys);
    }
    return ControllerFolders();
  };
  const auto find = [&](std::string_view controller) {
    const std::string_view path = FindPath(membership, controller);
    if (path.empty()) return version_2();
    for (const Mount& mount : all) {
      if (!mount.version_2 && HasWord(mount.options, controller)) {
        return FoldersBelow(mount, path, sys);
      }
    }
    return ControllerFolders{.version_2 = false, .path = std::string(path)};
  };
  return {.cpu = find("cpu"),
          .cpuset = find("cpuset"),
          .memory = find("memory"),
          .unified = version_2()};
}

}  // namespace recpack::probe
