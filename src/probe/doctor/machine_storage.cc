#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/probe/doctor/machine_parts.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

struct Mount {
  std::string device;  // "254:0"
  std::string point;
  std::string options;
  std::string file_system;
  std::string source;
};

// Replaces octal escapes: "\040" is a space.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard"
Mount ParseMount(std::string_view text) {
  Scanner line(text);
  line.Word();
  line.Word();
  Mount mount;
  mount.device = line.Word();
  line.Word();
  mount.point = Unescaped(line.Word());
  mount.options = line.Word();
  std::string_view word = line.Word();
  while (!word.empty() && word != "-") word = line.Word();
  mount.file_system = line.Word();
  mount.source = Unescaped(line.Word());
  const std::string own(line.Word());
  if (!own.empty() && own != mount.options) mount.options += "," + own;
  return mount;
}

bool IsBelow(const std::string& path, const std::string& point) {
  if (point == "/" || path == point) return true;
  return path.starts_with(point) && path[point.size()] == '/';
}

// Returns the innermost mount that contains `path`; among several at one point the last, which
// hides the others.
Reading<Mount> FindMount(const MachineOptions& options, const std::string& path) {
  const Reading<std::string> text = ReadText(options.proc + "/self/mountinfo");
  if (!text) return Unavailable{text.reason()};
  Mount found;
  Scanner lines(*text);
  while (!lines.done()) {
    Mount mount = ParseMount(lines.Line());
    if (IsBelow(path, mount.point) && mount.point.size() >= found.point.size()) {
      found = std::move(mount);
    }
  }
  if (found.point.empty()) return Unavailable{"/proc/self/mountinfo does not list its mount"};
  return found;
}

// Checks the vendor of a SCSI disk for names of hypervisors.
bool IsVirtual(const std::string& vendor) {
  for (const char* name : {"VMware", "Msft", "QEMU", "Google", "Nutanix", "VBOX", "Virtual"}) {
    if (vendor.starts_with(name)) return true;
  }
  return false;
}

// Kind of a block device; a partition has the kind of its disk. The rotational flag of virtual
// disks is not reliable.
Reading<std::string> DiskKind(const MachineOptions& options, const std::string& device) {
  const std::string folder = options.sys + "/dev/block/" + device;
  std::error_code code;
  const std::string name = fs::canonical(folder, code).filename();
  if (name.starts_with("vd") || name.starts_with("xvd")) return std::string("virtual");
  for (const char* vendor : {"/device/vendor", "/../device/vendor"}) {
    const Reading<std::string> text = ReadText(folder + vendor);
    if (text && IsVirtual(*text)) return std::string("virtual");
  }
  for (const char* queue : {"/queue/rotational", "/../queue/rotational"}) {
    const Reading<int> rotational = ReadNumber(folder + queue);
    if (rotational) return std::string(*rotational != 0 ? "rotating" : "solid state");
  }
  return Unavailable{format("{} does not tell its kind", folder)};
}

Reading<std::string> StorageKind(const MachineOptions& options, const Mount& mount) {
  const std::string& name = mount.file_system;
  for (const char* network : {"nfs", "cifs", "smb", "ceph", "lustre", "gpfs", "beegfs", "afs",
                              "fuse.", "glusterfs", "pvfs", "ocfs"}) {
    if (name.starts_with(network)) return std::string("network or user space");
  }
  if (name == "9p" || name == "virtiofs") return std::string("the host's, shared with a guest");
  if (name == "tmpfs" || name == "ramfs") return std::string("memory");
  if (name == "overlay" || name == "aufs") return std::string("layers of a container");
  return DiskKind(options, mount.device);
}

}  // namespace

MachineStorage ReadMachineStorage(const MachineOptions& options) {
  MachineStorage storage;
  std::error_code code;
  const fs::path path = fs::canonical(options.data, code);
  storage.path = code ? options.data : path.string();
  struct statvfs status = {};
  if (code || ::statvfs(storage.path.c_str(), &status) != 0) {
    const Unavailable why{
        format("{}: {}", options.data, code ? code.message() : std::strerror(errno))};
    storage.mount_point = storage.file_system = storage.source = why;
    storage.options = storage.kind = why;
    storage.size = storage.free = why;
    return storage;
  }
  storage.size = uint64_t{status.f_blocks} * status.f_frsize;
  storage.free = uint64_t{status.f_bavail} * status.f_frsize;
  const Reading<Mount> mount = FindMount(options, storage.path);
  if (!mount) {
    const Unavailable why{mount.reason()};
    storage.mount_point = storage.file_system = storage.source = why;
    storage.options = storage.kind = why;
    return storage;
  }
  storage.mount_point = mount->point;
  storage.file_system = mount->file_system;
  storage.source = mount->source;
  storage.options = mount->options;
  storage.kind = StorageKind(options, *mount);
  return storage;
}

}  // namespace recpack::probe
