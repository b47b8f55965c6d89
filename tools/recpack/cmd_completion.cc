// recpack completion: what a shell needs to complete commands, options and file names.
#include <cstdio>
#include <string>

#include "src/base/format.h"
#include "tools/recpack/command.h"

namespace recpack::tool {
namespace {

// The visible commands, and a case of the shell's `case` for the options of each.
struct Words {
  std::string commands;
  std::string cases;
};

std::string OptionsOf(const CLI::App& command) {
  std::string names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names += (names.empty() ? "--" : " --") + name;
    }
  }
  return names;
}

Words WordsOf(const CLI::App& app) {
  Words words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    words.commands += (words.commands.empty() ? "" : " ") + command->get_name();
    words.cases += format("    {}) options=\"{}\" ;;\n", command->get_name(), OptionsOf(*command));
  }
  return words;
}

std::string Script(const CLI::App& app, const std::string& shell) {
  const Words words = WordsOf(app);
  std::string script;
  if (shell == "zsh") script = "autoload -U +X bashcompinit && bashcompinit\n";
  return script + format(R"(_recpack() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [ "${{current#-}}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _recpack recpack
)",
                         words.commands, words.cases);
}

}  // namespace

void AddCompletion(CLI::App& app, int& exit_code) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes commands in a shell");
  auto shell = std::make_shared<std::string>();
  completion->footer(
      "Examples:\n  eval \"$(recpack completion bash)\"\n"
      "  recpack completion zsh > ~/.recpack-completion && . ~/.recpack-completion");
  completion->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([&app, shell, &exit_code] {
    std::fputs(Script(app, *shell).c_str(), stdout);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
