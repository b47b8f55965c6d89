// Where the files of a process's control group are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recpack::probe {

// The folders of one controller, from the group of the process to the top one.
struct ControllerFolders {
  bool version_2 = true;
  std::string path;  // of the group, as /proc/PID/cgroup has it
  std::vector<std::string> folders;

  bool operator==(const ControllerFolders&) const = default;
};

struct CgroupFolders {
  ControllerFolders cpu;
  ControllerFolders cpuset;
  ControllerFolders memory;
  ControllerFolders unified;  // version 2, where pressure stall information is

  bool operator==(const CgroupFolders&) const = default;
};

// From the text of /proc/PID/cgroup and of the reader's own /proc/self/mountinfo. `sys` stands in
// for /sys. Controllers that are not mounted have no folders.
CgroupFolders FindCgroupFolders(std::string_view membership, std::string_view mounts,
                                const std::string& sys);

}  // namespace recpack::probe
