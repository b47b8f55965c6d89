// Finds the function of the program, and its line, that a cause comes from.
#pragma once

#include <optional>
#include <vector>

#include "src/probe/evidence/code_lines.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Returns the function that takes most time of the threads in which the verdict's bottleneck lies,
// with its shares, at the longest of its lines. Returns nullopt if none takes a tenth.
std::optional<CodeLine> FindLine(const Verdict& verdict);

// Returns the function in which a process of several that train together spends most time, of those
// that no other one of them runs. Returns nullopt if none takes a twentieth of its role's time.
std::optional<CodeLine> FindOwnLine(const std::vector<CodeLine>& lines, int process);

// Tells whether the training thread was there.
bool IsTrainer(const CodeLine& line);

// Share of the training thread's time in which it waits for what others make. So does a thread that
// makes its batches of what others hand over, where the training thread's own waits are not seen.
double WaitsForOthers(const std::vector<CodeLine>& lines);

// Share of the training thread's time in which libraries import others, as at the first step.
double Imports(const std::vector<CodeLine>& lines);

// Converts a share of the training thread's time to one without imports, which may last longer than
// a short training.
double OfTraining(double share, const std::vector<CodeLine>& lines);

// Share of the training thread's time, imports left out, of the function of the program that takes
// most of it, beside the model and the input. 0 if none takes a tenth.
double OwnCodeShare(const std::vector<CodeLine>& lines);

}  // namespace recpack::probe
