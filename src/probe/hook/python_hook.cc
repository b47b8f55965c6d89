#include "src/probe/hook/python_hook.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/probe/procfs/process_strings.h"
#include "src/probe/util/embedded_file.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

std::string HookFolder(const std::string& folder) {
  return (fs::absolute(folder) / "python").lexically_normal().string();
}

void CreateFolder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw SystemError("cannot create the folder", folder.string(), code.value());
}

// Returns the option that keeps Python from loading the hook; empty if there is none.
std::string_view OptionAgainst(std::span<const std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--check-hash-based-pycs") ++i;
    if (argument.starts_with("--")) continue;
    if (argument.size() < 2 || argument[0] != '-') return {};  // the script
    for (size_t k = 1; k < argument.size(); ++k) {
      switch (argument[k]) {
        case 'S':
          return "-S";
        case 'E':
          return "-E";
        case 'I':
          return "-I";
        case 'c':
        case 'm':
          return {};
        case 'W':
        case 'X':
          if (k + 1 == argument.size()) ++i;
          k = argument.size();
          break;
        default:
          break;
      }
    }
  }
  return {};
}

bool HasPart(std::string_view path, std::string_view part) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (path.substr(begin, end - begin) == part) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool IsPython(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return name.starts_with("python") || name.starts_with("pypy");
}

std::vector<std::pair<std::string, std::string>> PreparePythonHook(const std::string& folder,
                                                                   const std::string& python_path) {
  const std::string hook = HookFolder(folder);
  if (hook.find(':') != std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument, "PYTHONPATH cannot name a folder with a colon",
                {.path = folder}, "record into another folder");
  }
  for (const EmbeddedFile& file : PythonHookFiles()) {
    const fs::path path = fs::path(hook) / file.path;
    CreateFolder(path.parent_path());
    const auto written = PosixFiles().Create(path.string());
    written->Write(AsBytes(file.text));
    written->Close();
  }
  return {{"RECPACK_EVENTS", fs::path(hook).parent_path().string()},
          {"PYTHONPATH", python_path.empty() ? hook : format("{}:{}", hook, python_path)}};
}

std::string WhyPythonIsNotHooked(std::span<const std::string> command,
                                 std::span<const std::string> environment,
                                 const std::string& folder) {
  if (command.empty() || !IsPython(command[0])) return {};
  if (const std::string_view option = OptionAgainst(command.subspan(1)); !option.empty()) {
    return format("{} keeps Python from loading the hook: run it without {}", option, option);
  }
  const char* switched = FindVariable(environment, "RECPACK_PYTHON_HOOK");
  if (switched != nullptr && std::string_view(switched) == "0") {
    return "RECPACK_PYTHON_HOOK=0 switches the hook off";
  }
  if (FindVariable(environment, "RECPACK_EVENTS") == nullptr) {
    return "it was started without RECPACK_EVENTS: its launcher does not pass on the environment";
  }
  const char* path = FindVariable(environment, "PYTHONPATH");
  if (path == nullptr || !HasPart(path, HookFolder(folder))) {
    return "its PYTHONPATH does not contain the hook: its launcher has replaced it; make the "
           "launcher extend PYTHONPATH";
  }
  return {};
}

std::string WhyPythonIsNotHooked(int pid, const std::string& folder) {
  if (fs::exists(format("{}/{}-python.events", folder, pid))) return {};
  const auto command = ReadCommandLine(pid);
  if (!command) return {};
  const auto environment = ReadEnvironment(pid);
  if (!environment) {
    return IsPython(command->front())
               ? format("/proc/{}/environ cannot be read to find out why it runs no hook", pid)
               : std::string();
  }
  return WhyPythonIsNotHooked(*command, *environment, folder);
}

}  // namespace recpack::probe
