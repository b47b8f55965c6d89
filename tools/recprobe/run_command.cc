#include "tools/recprobe/run_command.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

namespace recpack::tool {
namespace {

constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kLook(50);

}  // namespace

std::unique_ptr<ChildCommand> StartOrTell(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment, int& exit_code) {
  try {
    return std::make_unique<ChildCommand>(command, environment);
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    exit_code = StartExitCode(error);
    return nullptr;
  }
}

CommandEnd EndCommand(ChildCommand& child) {
  child.Kill(SIGTERM);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  auto end = child.Wait(kPatience);
  while (child.AnyRunning().value_or(false) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLook);
  }
  child.Kill(SIGKILL);
  if (!end) end = child.Wait(kPatience);
  return end.value_or(CommandEnd{.exit_code = 128 + SIGKILL, .signal = SIGKILL});
}

}  // namespace recpack::tool
