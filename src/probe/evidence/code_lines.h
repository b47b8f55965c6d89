// Collector of the places in the program's code that the hook in Python programs samples.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Roles of threads, as the hook names them.
inline constexpr char kProgramRole[] = "program";  // the main thread, while nothing trains
inline constexpr char kTrainerRole[] = "training thread";
inline constexpr char kWorkerRole[] = "worker";  // main thread of a process that was started
inline constexpr char kInputRole[] = "input thread";
inline constexpr char kThreadRole[] = "thread";  // any other that runs the program's code

// A line of the program, and the time that the threads of a role spent at it.
struct CodeLine {
  int process = 0;          // one that was there
  bool in_several = false;  // processes
  std::string role;         // of the constants above
  // Part of the input or of the loop: "__getitem__", "transform RandomCrop", "collate_fn",
  // "generator", "model", "next batch", ...; empty: unknown.
  std::string phase;
  std::string file;
  int line = 0;
  std::string function;
  std::string calling;  // function of a library or native code that the line calls; may be empty
  std::string made;     // FILE:LINE where the program creates the transform; empty: not found
  double seconds = 0;   // summed over threads
  double share = 0;     // of the time of all threads of this role
  double blocked = 0;   // share of `seconds` in which the thread could not have run
  std::string waits;    // for what, most of that time: "sleep", "lock", "I/O", ...
};

// Where the training thread of a process was in the last time.
struct Standstill {
  int process = 0;
  double seconds = 0;  // that were sampled
  double blocked = 0;  // share of these in which it waited, but not for a disk
  CodeLine line;       // where it was for longest
};

class Families;

// Sums up the samples of places. Takes bounded memory. Not thread-safe.
class LineSamples {
 public:
  // Takes the samples out of the events. `families` has seen these.
  void Take(std::vector<TimedEvent>& events, const Families& families);

  // Returns the lines at which threads spent most time, by role, the longest first. What a program
  // did before it trained is left out if anything trained.
  std::vector<CodeLine> Lines() const;

  // Returns the same of a trainer and the processes that work for it.
  std::vector<CodeLine> LinesOf(int trainer, const Families& families) const;

  // Returns where training threads were since a moment (CLOCK_MONOTONIC, ns), by process. Samples
  // older than kRemembered seconds before the last one may be missing.
  std::vector<Standstill> Since(int64_t when) const;
  static constexpr int64_t kRemembered = 120;

 private:
  struct Sums {
    // Adds those of the same place in other processes.
    void Add(const Sums& other);
    // Returns the line with what its threads waited for.
    CodeLine WithWaits() const;

    CodeLine line;
    std::map<std::string, double> waits;  // seconds by what the thread waited for
  };
  struct Recent {
    int process;
    int64_t end;
    double seconds;
    bool blocked;
    const Sums* sums;
  };
  using OfHead = std::pair<int, std::string>;  // by Families::HeadOf()

  Sums* Find(const TimedEvent& event, const Families& families);
  // Returns those of the heads for which `counts` is true.
  std::vector<CodeLine> Lines(const std::function<bool(int head)>& counts) const;
  void Remember(const TimedEvent& event, const Sums& sums, const std::string& waits,
                double seconds);

  std::map<OfHead, Sums> sums_;     // by name without what it waits for
  std::map<OfHead, double> roles_;  // seconds
  std::deque<Recent> recent_;       // of training threads
};

}  // namespace recpack::probe
