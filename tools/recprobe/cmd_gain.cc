#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/gain.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/probe/events/event_reader.h"
#include "src/probe/gain/gain.h"
#include "src/probe/gain/rounds.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/gain_against.h"
#include "tools/recprobe/run_command.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookAtGain(200);
constexpr size_t kRoundsToEnd = 6;  // least number of rounds before a narrow interval ends the run

constexpr char kExamples[] =
    "Examples:\n"
    "  recprobe gain -- rectrain train shards/cifar10\n"
    "  recprobe gain --seconds 60 --json -- mpirun -n 2 rectrain train shards/cifar10\n"
    "  recprobe gain --against 'python train.py --cached' -- python train.py\n";

struct GainFlags {
  PairedFlags paired;  // the command, and flags shared with --against
  double seconds = 120;
  double precision = 2;  // percent of the live rate
  uint64_t seed = 0;
  uint32_t block_steps = 24;
};

bool IsNarrow(const probe::GainResult& result, double precision) {
  if (result.rounds < kRoundsToEnd) return false;
  const double reach = (result.gain.high - result.gain.low) / 2;
  return reach <= precision / 100 * result.rate(LoaderMode::kLive).value;
}

// Explains why there is no result.
std::string WhyUnknown(const probe::GainBlocks& blocks, const probe::GainResult& result,
                       bool ended_here) {
  if (blocks.batches() == 0) {
    return format(
        "no recpack loader gave a batch{}: gain replaces the batches of recpack's loader; for "
        "other "
        "programs give a command to compare with: recprobe gain --against 'COMMAND WITH CACHED "
        "INPUT'",
        ended_here ? " within --seconds" : "");
  }
  const uint32_t needed = result.block_steps * (1 + GainPlan::kKinds) + 1;
  return format(
      "the program {} after {} batches, before the first round was complete; a round takes {} "
      "steps "
      "of each device: {}, or use shorter blocks (--block-steps)",
      ended_here ? "was ended" : "ended", blocks.batches(), needed,
      ended_here ? "use a larger --seconds" : "let it train longer");
}

int Finish(const GainFlags& flags, const probe::GainBlocks& blocks, const probe::CommandEnd& end,
           bool ended_here) {
  probe::GainResult result = blocks.Result();
  if (result.rounds == 0) result.notes.push_back(WhyUnknown(blocks, result, ended_here));
  if (result.rounds > 0 && result.rounds < probe::kFewestRounds) {
    result.notes.push_back("there are too few rounds for an interval: use a larger --seconds");
  }
  const bool failed = !ended_here && end.exit_code != 0;
  if (failed) result.notes.push_back("the command " + end.Text());
  if (flags.paired.json) {
    std::printf("%s\n", probe::GainJson(result).c_str());
    std::fflush(stdout);
  } else {
    std::fprintf(stderr, "%s", probe::GainText(result).c_str());
  }
  if (blocks.batches() > 0) {
    std::fprintf(
        stderr,
        "recprobe: discard what this run has trained: most of its batches were repeated or "
        "synthetic\n");
  }
  if (failed) return end.exit_code;
  return result.rounds == 0 ? kFailure : kDone;
}

int RunGain(const GainFlags& flags) {
  const GainPlan plan(flags.seed, flags.block_steps);
  const ScratchFolder events;
  std::fprintf(stderr,
               "recprobe: this is an experiment: the program gets repeated and synthetic batches "
               "between its own, and is ended after %.0f s or when the gain is known to %.3g %%\n",
               flags.seconds, flags.precision);
  int not_started = kDone;
  const auto child = StartOrTell(
      flags.paired.command, {{"RECPACK_EVENTS", events.path()}, {GainPlan::kVariable, plan.Text()}},
      not_started);
  if (!child) return not_started;
  probe::EventReader reader(events.path());
  probe::GainBlocks blocks(flags.block_steps);
  std::optional<probe::CommandEnd> end;
  bool ended_here = false;
  auto begin = Clock::now();
  for (size_t rounds = 0; !end;) {
    end = child->Wait(kLookAtGain);
    const bool before = blocks.batches() == 0;
    blocks.Add(reader.Poll());
    if (before && blocks.batches() > 0) begin = Clock::now();
    const probe::GainResult now = blocks.Result();
    const bool narrow = now.rounds > rounds && IsNarrow(now, flags.precision);
    rounds = now.rounds;
    const std::chrono::duration<double> ran = Clock::now() - begin;
    if (!end && (narrow || ran.count() > flags.seconds)) {
      ended_here = true;
      end = EndCommand(*child);
    }
  }
  if (!ended_here) EndLeftBehind(*child);
  blocks.Add(reader.PollAll());
  return Finish(flags, blocks, *end, ended_here || child->passed_on() != 0);
}

}  // namespace

void AddGain(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "gain",
      "Measure by experiment what a perfect input would gain: recprobe gain [OPTIONS] -- "
      "COMMAND...");
  command.footer(kExamples);
  const auto flags = std::make_shared<GainFlags>();
  PairedFlags& paired = flags->paired;
  command.add_option("command", paired.command, "The command, after --.")->required();
  CLI::Option* against = command.add_option(
      "--against", paired.against,
      "For programs without recpack's loader: a second shell command, with cached input or a "
      "simplified model. Both run in turn, to their ends.");
  const auto alone = [&](CLI::Option* option) { return option->excludes(against); };
  alone(command.add_option("--seconds", flags->seconds,
                           "Maximum duration of the training, from its first batch on."))
      ->capture_default_str()
      ->check(Positive());
  alone(command.add_option("--precision", flags->precision,
                           "End early when the gain is known to within this percentage of the live "
                           "rate; 0: never."))
      ->capture_default_str()
      ->check(NotNegative());
  alone(command.add_option("--block-steps", flags->block_steps,
                           "Steps per block of batches of one kind."))
      ->capture_default_str()
      ->check(CLI::Range(GainPlan::kFewestSteps, 1'000'000U));
  alone(command.add_option("--seed", flags->seed, "Seed for the order of the blocks."))
      ->capture_default_str();
  command.add_option("--rounds", paired.rounds, "Runs of each command.")
      ->needs(against)
      ->capture_default_str()
      ->check(CLI::Range(3, 1000));
  command
      .add_option("--run-seconds", paired.run_seconds,
                  "End each run after this time; 0: let it finish.")
      ->needs(against)
      ->capture_default_str()
      ->check(NotNegative());
  command.add_flag("!--no-hook", paired.hook, "Do not load the hook into Python programs.")
      ->needs(against);
  command.add_flag("--json", paired.json, "Print one JSON object to stdout.");
  command.callback([flags, &exit_code] {
    exit_code = flags->paired.against.empty() ? RunGain(*flags) : RunPairs(flags->paired);
  });
}

}  // namespace recpack::tool
