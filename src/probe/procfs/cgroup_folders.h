// Finds the folders of a process's control group.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recpack::probe {

// The folders of one controller, from the group of the process to the root group.
struct ControllerFolders {
  bool version_2 = true;
  std::string path;  // of the group, as in /proc/PID/cgroup
  std::vector<std::string> folders;

  bool operator==(const ControllerFolders&) const = default;
};

struct CgroupFolders {
  ControllerFolders cpu;
  ControllerFolders cpuset;
  ControllerFolders memory;
  ControllerFolders unified;  // version 2, with the pressure stall information

  bool operator==(const CgroupFolders&) const = default;
};

// `membership`: the text of /proc/PID/cgroup. `mounts`: the text of the caller's
// /proc/self/mountinfo. `sys`: used in place of /sys. Controllers that are not mounted have no
// folders.
CgroupFolders FindCgroupFolders(std::string_view membership, std::string_view mounts,
                                const std::string& sys);

}  // namespace recpack::probe
