#include "tools/app_pages.h"

#include <cctype>
#include <cstdio>
#include <memory>
#include <sstream>

#include "src/base/format.h"
#include "tools/program.h"

namespace recpack::tool {
namespace {

// The type as a reader wants it: CLI11's "TEXT:{f32,bf16}" is {f32,bf16}, "INT:POSITIVE" is INT.
std::string ValueText(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const size_t colon = type.find(':');
  if (colon == std::string::npos) return type;
  const std::string check = type.substr(colon + 1);
  return check.find_first_of("{[") == std::string::npos ? type.substr(0, colon) : check;
}

// "--lr FLOAT", "DATA".
std::string UsageText(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
  names.resize(names.size() - 2);
  return option.get_items_expected() > 0 ? names + " " + ValueText(option) : names;
}

std::string MeaningText(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!text.ends_with('.')) text += '.';
  if (option.get_required()) text += " Required.";
  const std::string usual = option.get_default_str();
  return usual.empty() ? text : text + format(" Default: {}.", usual);
}

std::vector<const CLI::Option*> ListOptions(const CLI::App& command, bool positional) {
  std::vector<const CLI::Option*> found;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() == positional && !option->get_group().empty()) {
      found.push_back(option);
    }
  }
  return found;
}

std::string Usage(const CLI::App& app, const CLI::App& command) {
  std::string text = app.get_name() + " " + command.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : ListOptions(command, true)) {
    const std::string name = option->get_name(true);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string EscapeRoff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == ',') {
      escaped += ",\\:";  // long lists may break there
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      // A line that begins with a dot or a quote would be a request.
      if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string RoffOptions(const CLI::App& command, bool positional) {
  std::string text;
  for (const CLI::Option* option : ListOptions(command, positional)) {
    text += format(".TP\n.B {}\n{}\n", EscapeRoff(UsageText(*option)),
                   EscapeRoff(MeaningText(*option)));
  }
  return text;
}

std::string EscapeMarkdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<' || c == '*' || c == '[' || c == '_' || c == '|' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string MarkdownOptions(const CLI::App& command, bool positional) {
  std::string text;
  for (const CLI::Option* option : ListOptions(command, positional)) {
    text += format("- `{}`: {}\n", UsageText(*option), EscapeMarkdown(MeaningText(*option)));
  }
  return text;
}

}  // namespace

std::vector<const CLI::App*> VisibleCommands(const CLI::App& app) {
  auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::erase_if(commands, [](const CLI::App* command) { return command->get_group().empty(); });
  return {commands.begin(), commands.end()};
}

std::string ManualPage(const CLI::App& app) {
  const std::vector<std::string> about = Lines(app.get_description());
  std::string upper = app.get_name();
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string title = about.front();
  if (title.starts_with(app.get_name() + " ")) title.erase(0, app.get_name().size() + 1);
  if (title.ends_with('.')) title.pop_back();
  std::string page =
      format(".TH {} 1 \"\" \"recpack {}\"\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", upper,
             RECPACK_VERSION, EscapeRoff(app.get_name()), EscapeRoff(title));
  const auto commands = VisibleCommands(app);
  for (const CLI::App* command : commands) {
    page += format(".B {}\n.br\n", EscapeRoff(Usage(app, *command)));
  }
  page += ".SH DESCRIPTION\n";
  for (const std::string& line : about) page += EscapeRoff(line) + "\n.PP\n";
  for (const CLI::App* command : commands) {
    page += format(".SH {} {}\n{}\n.PP\n.B {}\n", app.get_name(), EscapeRoff(command->get_name()),
                   EscapeRoff(command->get_description()), EscapeRoff(Usage(app, *command)));
    page += RoffOptions(*command, true) + RoffOptions(*command, false);
    if (!command->get_footer().empty()) {
      page += format(".PP\n.nf\n{}\n.fi\n", EscapeRoff(command->get_footer()));
    }
  }
  return page;
}

std::string ReferencePage(const CLI::App& app) {
  std::string page = format("# {}\n\n", app.get_name());
  for (const std::string& line : Lines(app.get_description())) {
    page += EscapeMarkdown(line) + "\n\n";
  }
  page += format(
      "`{0} page markdown` prints this page; `{0} COMMAND --help` prints the options of a "
      "command.\n",
      app.get_name());
  for (const CLI::App* command : VisibleCommands(app)) {
    page += format("\n## {} {}\n\n{}\n\n    {}\n\n", app.get_name(), command->get_name(),
                   EscapeMarkdown(command->get_description()), Usage(app, *command));
    page += MarkdownOptions(*command, true) + MarkdownOptions(*command, false);
    if (command->get_footer().empty()) continue;
    page += "\n```text\n";
    for (const std::string& line : Lines(command->get_footer())) page += line + "\n";
    page += "```\n";
  }
  return page;
}

void AddPage(CLI::App& app, int& exit_code) {
  CLI::App* page = app.add_subcommand("page", "Print the manual page or the reference page");
  page->group("");
  auto kind = std::make_shared<std::string>();
  page->add_option("FORMAT", *kind, "man or markdown")
      ->required()
      ->check(CLI::IsMember({"man", "markdown"}));
  page->callback([&app, kind, &exit_code] {
    std::fputs((*kind == "man" ? ManualPage(app) : ReferencePage(app)).c_str(), stdout);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
