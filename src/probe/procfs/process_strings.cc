#include "src/probe/procfs/process_strings.h"

#include <fstream>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

// Reads a file of null-terminated strings.
std::optional<std::vector<std::string>> ReadStrings(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> strings;
  for (std::string text; std::getline(file, text, '\0');) strings.push_back(text);
  if (strings.empty()) return {};
  return strings;
}

}  // namespace

std::optional<std::vector<std::string>> ReadCommandLine(int process, const std::string& proc) {
  return ReadStrings(format("{}/{}/cmdline", proc, process));
}

std::optional<std::vector<std::string>> ReadEnvironment(int process, const std::string& proc) {
  return ReadStrings(format("{}/{}/environ", proc, process));
}

const char* FindVariable(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.c_str() + name.size() + 1;
    }
  }
  return nullptr;
}

}  // namespace recpack::probe
