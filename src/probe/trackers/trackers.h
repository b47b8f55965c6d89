// Logs reports to experiment trackers: Weights & Biases, MLflow, TensorBoard, OTLP collectors.
//
// The tracker's own Python package does it (log_report.py), in the Python of the watched program:
// there it is installed, and configured as the program's own runs are.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace recpack::probe {

struct Tracker {
  std::string name;   // one of TrackerNames()
  std::string where;  // project, experiment, folder or URL; empty: the package's default
};

// "wandb", "mlflow", "tensorboard" and "otlp".
std::vector<std::string> TrackerNames();

// Parses "wandb" or "wandb:PROJECT". Throws Error (kInvalidArgument) for another name.
Tracker ParseTracker(const std::string& text);

// Returns the Python that a command runs in: its first word that is one, else the one that runs the
// command if it is a script (such as torchrun), else "python3".
std::string FindPython(std::span<const std::string> command);

// Throws Error (kNotFound) if `python` cannot be run or lacks the tracker's package.
void CheckTracker(const Tracker& tracker, const std::string& python);

// Logs what lies in `folder` (report.json, report.html), and prints to stderr where it went. Blocks
// until it is done. Throws Error: kNotFound as CheckTracker(); kIo if the tracker refuses it, after
// the reason was printed.
void LogReport(const Tracker& tracker, const std::string& python, const std::string& folder);

}  // namespace recpack::probe
