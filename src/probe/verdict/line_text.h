// Words for the lines of a program at which its time goes.
#pragma once

#include <string>
#include <vector>

#include "src/probe/evidence/code_lines.h"

namespace recpack::probe {

// Returns "train.py:41"; with the whole path if another of `lines` lies in a file of this name.
std::string PlaceText(const CodeLine& line, const std::vector<CodeLine>& lines);

// Returns "computing", or "blocked (sleep)" if the threads could not run half of the time there.
std::string DoingText(const CodeLine& line);

// Returns "the workers'", ..., before "time".
std::string OwnerText(const CodeLine& line);

// Returns the section of a verdict that names the lines which take most time; empty without lines.
std::string WhereText(const std::vector<CodeLine>& lines);

}  // namespace recpack::probe
