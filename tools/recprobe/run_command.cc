#include "tools/recprobe/run_command.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::seconds kGrace(2);
constexpr std::chrono::milliseconds kLookAtCommand(50);

}  // namespace

std::unique_ptr<probe::ChildCommand> StartOrTell(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment, int& exit_code) {
  try {
    return std::make_unique<probe::ChildCommand>(command, environment);
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    exit_code = probe::StartExitCode(error);
    return nullptr;
  }
}

bool LeavesBehind(probe::ChildCommand& child, std::chrono::nanoseconds grace) {
  const auto until = Clock::now() + grace;
  while (child.AnyRunning().value_or(false)) {
    if (Clock::now() >= until) return true;
    std::this_thread::sleep_for(kLookAtCommand);
  }
  return false;
}

void EndLeftBehind(probe::ChildCommand& child) {
  if (!LeavesBehind(child, kGrace)) return;
  std::fputs(
      "recprobe: the command left processes behind, which were ended: let it wait for them\n",
      stderr);
  EndCommand(child);
}

probe::CommandEnd EndCommand(probe::ChildCommand& child) {
  child.Kill(SIGTERM);
  const auto until = Clock::now() + kPatience;
  auto end = child.Wait(kPatience);
  LeavesBehind(child, until - Clock::now());
  child.Kill(SIGKILL);
  if (!end) end = child.Wait(kPatience);
  return end.value_or(probe::CommandEnd{.exit_code = 128 + SIGKILL, .signal = SIGKILL});
}

}  // namespace recpack::tool
