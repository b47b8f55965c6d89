#include "src/probe/events/event_folder.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

constexpr char kMachine[] = "machine";
constexpr char kAccelerators[] = "accelerators";

// Opens regular files only: reading a pipe would wait, and a device may have no end.
std::ifstream OpenFile(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) ? std::ifstream(path) : std::ifstream();
}

}  // namespace

std::vector<std::string> ReadNotices(const std::string& folder) {
  std::set<std::string> notices;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() != ".notice") continue;
    std::ifstream file = OpenFile(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) notices.insert(line);
    }
  }
  return {notices.begin(), notices.end()};
}

std::vector<std::string> ReadLosses(const std::string& folder) {
  std::vector<std::string> lines;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() != ".lost") continue;
    const std::string name = entry.path().filename();
    lines.push_back(
        format("events of process {} are incomplete: they could not be written to {} (full disk, "
               "quota, file size limit); name another folder (--keep, else TMPDIR)",
               name.substr(0, name.find('-')), folder));
  }
  return lines;
}

void KeepAccelerators(const std::string& folder, bool any) {
  std::ofstream(fs::path(folder) / kMachine) << kAccelerators << ' ' << (any ? 1 : 0) << '\n';
}

std::optional<bool> KeptAccelerators(const std::string& folder) {
  std::ifstream file = OpenFile(fs::path(folder) / kMachine);
  std::string name;
  bool any = true;
  if (!(file >> name >> any) || name != kAccelerators) return {};
  return any;
}

}  // namespace recpack::probe
