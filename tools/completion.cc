// The command `completion`: prints scripts that complete commands, options and file names.
#include "tools/completion.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "src/base/format.h"
#include "tools/app_pages.h"

namespace recpack::tool {
namespace {

std::string SpacedNames(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (const CLI::App* command : commands) {
    names += (names.empty() ? "" : " ") + command->get_name();
  }
  return names;
}

std::string JoinOptions(const CLI::App& command) {
  std::string names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names += (names.empty() ? "--" : " --") + name;
    }
  }
  return names;
}

// Script for bash; zsh emulates it. File names are left to the shell, which can quote them.
std::string BashScript(const CLI::App& app) {
  const auto commands = VisibleCommands(app);
  std::string cases;
  for (const CLI::App* command : commands) {
    cases += format("    {}) options=\"{}\" ;;\n", command->get_name(), JoinOptions(*command));
  }
  return format(R"(_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{1} --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{2}  esac
  if [ "${{current#-}}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  fi
}}
complete -o default -F _{0} {0}
)",
                app.get_name(), SpacedNames(commands), cases);
}

constexpr char kZshPreamble[] =
    "(( $+functions[compdef] )) || { autoload -U compinit && compinit; }\n"
    "autoload -U +X bashcompinit && bashcompinit\n";

std::string FishQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FishScript(const CLI::App& app) {
  const auto commands = VisibleCommands(app);
  const std::string complete = "complete -c " + app.get_name();
  std::string script = complete + " -n __fish_use_subcommand -f -l help -l version\n";
  for (const CLI::App* command : commands) {
    script += format("{} -n __fish_use_subcommand -f -a {} -d {}\n", complete, command->get_name(),
                     FishQuoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script += format("{} -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n", complete,
                         command->get_name(), name, option->get_items_expected() > 0 ? " -r" : "",
                         FishQuoted(option->get_description()));
      }
    }
  }
  return script;
}

std::string Script(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return FishScript(app);
  return (shell == "zsh" ? kZshPreamble : "") + BashScript(app);
}

}  // namespace

void AddCompletion(CLI::App& app, int& exit_code) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes commands in a shell");
  auto shell = std::make_shared<std::string>();
  completion->footer(
      format("Examples:\n  eval \"$({0} completion bash)\"\n"
             "  eval \"$({0} completion zsh)\"\n"
             "  {0} completion fish | source\n"
             "Put the line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish to have it in\n"
             "every shell.",
             app.get_name()));
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, shell, &exit_code] {
    std::fputs(Script(app, *shell).c_str(), stdout);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
