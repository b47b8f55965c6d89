#include "tools/recprobe/gain_against.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/gain/rounds.h"
#include "src/probe/hook/python_hook.h"
#include "src/probe/live/watch.h"
#include "src/probe/util/wrapped.h"
#include "tools/program.h"
#include "tools/recprobe/run_command.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSampled(100);
constexpr int kSignalled = 128;  // as in a shell

struct Run {
  double steps_per_second = 0;
  probe::CommandEnd end;
  bool ended_here = false;
  int interrupted = 0;  // signal; 0: none
  std::string notes;
};

std::vector<std::pair<std::string, std::string>> PlanEnvironment(const ScratchFolder& events,
                                                                 bool hook) {
  if (!hook) return {{"RECPACK_EVENTS", events.path()}};
  const char* path = std::getenv("PYTHONPATH");
  return probe::PreparePythonHook(events.path(), path == nullptr ? "" : path);
}

Run RunOnce(const std::vector<std::string>& command, const PairedFlags& flags) {
  const ScratchFolder events;
  Run run;
  const auto child = StartOrTell(command, PlanEnvironment(events, flags.hook), run.end.exit_code);
  if (!child) return run;
  probe::Watch watch({.roots = {child->process()}, .adopter = ::getpid(), .events = events.path()});
  std::optional<probe::CommandEnd> end;
  const auto begin = Clock::now();
  for (auto next = begin; !end;) {
    watch.Sample();
    next = std::max(next + kSampled, Clock::now());
    end = child->Wait(next - Clock::now());
    const std::chrono::duration<double> ran = Clock::now() - begin;
    if (!end && flags.run_seconds > 0 && ran.count() > flags.run_seconds) {
      run.ended_here = true;
      end = EndCommand(*child);
    }
  }
  if (!run.ended_here) EndLeftBehind(*child);
  watch.LastSample();
  const probe::Verdict verdict = probe::Decide(watch.Collected());
  run.end = *end;
  run.interrupted = child->passed_on();
  run.steps_per_second = verdict.steps_per_second;
  for (const std::string& note : verdict.notes) run.notes += "\n  - " + note;
  return run;
}

std::string RangeText(const probe::Estimate& estimate, const char* unit) {
  return format("{:.3f}{} [{:.3f}, {:.3f}]", estimate.value, unit, estimate.low, estimate.high);
}

nlohmann::ordered_json ToJson(const probe::Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

// What the ratio says, if the other command is the same program with an input or a model that costs
// nothing.
std::string Meaning(const probe::Estimate& ratio) {
  constexpr double kAlike = 0.05;
  if (ratio.high < 1 + kAlike && ratio.low > 1 - kAlike) {
    return "both are alike: if the other command has a cached input, this training is not "
           "input-bound; if it has a simplified model, this training is input-bound";
  }
  if (ratio.low > 1) {
    return format(
        "the other command is faster: if it has a cached input, this training is input-bound, and "
        "a perfect input makes it {:.2f} times as fast; if it has a simplified model, the model "
        "limits this training",
        ratio.value);
  }
  if (ratio.high < 1) {
    return "the other command is slower: what it leaves out costs this training nothing";
  }
  return "the interval holds both: more rounds (--rounds) decide";
}

// `rounds`: seconds per step of the command and of the other command.
void Print(const probe::Rounds& rounds, bool json) {
  const auto rate = [](size_t kind) {
    return [kind](const std::vector<double>& means) { return 1 / means[kind]; };
  };
  const probe::Estimate own = probe::EstimateFigure(rounds, rate(0)),
                        other = probe::EstimateFigure(rounds, rate(1));
  const probe::Estimate ratio =
      probe::EstimateFigure(rounds, [](const auto& means) { return means[0] / means[1]; });
  const probe::Estimate gain =
      probe::EstimateFigure(rounds, [](const auto& means) { return 1 / means[1] - 1 / means[0]; });
  if (json) {
    const nlohmann::ordered_json all = {{"rounds", rounds.size()},
                                        {"steps_per_s", ToJson(own)},
                                        {"against_steps_per_s", ToJson(other)},
                                        {"gain", ToJson(gain)},
                                        {"ratio", ToJson(ratio)},
                                        {"meaning", Meaning(ratio)}};
    std::printf("%s\n", all.dump().c_str());
    return;
  }
  std::fprintf(stderr,
               "gain against the other command: %s\n  %s times as fast, 95 %% intervals; %zu "
               "rounds\n\nsteps per second\n  the command        %s\n  the other command  %s\n\n%s",
               RangeText(gain, " steps/s").c_str(), RangeText(ratio, "").c_str(), rounds.size(),
               RangeText(own, " steps/s").c_str(), RangeText(other, " steps/s").c_str(),
               probe::Wrapped("", Meaning(ratio)).c_str());
}

}  // namespace

int RunPairs(const PairedFlags& flags) {
  const std::vector<std::string> commands[] = {flags.command, {"/bin/sh", "-c", flags.against}};
  const char* const names[] = {"the command", "the other command"};
  probe::Rounds rounds;
  for (size_t round = 0; round < flags.rounds; ++round) {
    std::vector<double> seconds(2);
    for (size_t turn = 0; turn < 2; ++turn) {
      const size_t which = (round + turn) % 2;
      const Run run = RunOnce(commands[which], flags);
      if (!run.ended_here && run.end.exit_code != 0) {
        std::fprintf(stderr, "recprobe: %s %s in round %zu\n", names[which], run.end.Text().c_str(),
                     round + 1);
        return run.end.exit_code;
      }
      if (run.interrupted != 0) {  // the command handled the signal and ended with exit code 0
        std::fprintf(stderr, "recprobe: stopped by signal %d in round %zu\n", run.interrupted,
                     round + 1);
        return kSignalled + run.interrupted;
      }
      if (!(run.steps_per_second > 0)) {
        throw Error(ErrorKind::kNotFound,
                    format("no steps of {} were seen{}", names[which], run.notes), {},
                    "compare programs whose steps `recprobe run` can see");
      }
      seconds[which] = 1 / run.steps_per_second;
      std::fprintf(stderr, "recprobe: round %zu of %zu: %s made %.3f steps/s\n", round + 1,
                   flags.rounds, names[which], run.steps_per_second);
    }
    rounds.push_back(std::move(seconds));
  }
  Print(rounds, flags.json);
  return kDone;
}

}  // namespace recpack::tool
