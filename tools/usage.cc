#include "tools/usage.h"

#include <regex>

#include "recpack/base/text.h"

namespace recpack::tool {
namespace {

// The command that the words name, of the program.
const CLI::App& ParsedCommand(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : ParsedCommand(*parsed.back());
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string UnknownOption(const CLI::App& app, const std::string& message) {
  const std::string word = message.substr(message.rfind(": ") + 2);
  if (!word.starts_with("-")) return message;
  const std::string name = word.substr(0, word.find('='));
  const std::string nearest = NearestName(name, OptionNames(ParsedCommand(app)));
  return "unknown option " + name + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

}  // namespace

std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  static const std::regex kTooMany("(.*): At Most 1 required but received (\\d+)");
  static const std::regex kNoValue("(.*): 1 required (\\S+) missing");
  std::smatch found;
  if (std::regex_match(message, found, kTooMany)) {
    return found[1].str() + " was given " + found[2].str() + " times: give it once";
  }
  if (std::regex_match(message, found, kNoValue)) {
    return found[1].str() + " needs a value (" + found[2].str() + ")";
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return UnknownOption(app, message);
  }
  return message;
}

std::vector<std::string> WithoutHelpCommand(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace recpack::tool
