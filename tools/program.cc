#include "tools/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "tools/app_pages.h"
#include "tools/completion.h"
#include "tools/usage.h"

namespace recpack::tool {
namespace {

// `holds` tells whether a number is allowed.
CLI::Validator Checked(const char* name, const char* what, bool (*holds)(double)) {
  return {[=](const std::string& text) {
            double number = 0;
            const bool is_number = CLI::detail::lexical_cast(text, number);
            return is_number && holds(number) ? ""
                                              : std::string("must be ") + what + ", not " + text;
          },
          name};
}

// CLI11 alone would only report a missing command.
void RefuseUnknownCommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return;
  const std::string& command = words.front();
  std::vector<std::string> names;
  for (const CLI::App* there : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (there->get_name() == command) return;
    if (there->get_group().empty()) continue;
    names.push_back(there->get_name());
  }
  const std::string nearest = NearestName(command, names);
  throw Error(
      ErrorKind::kInvalidArgument, "unknown command '" + command + "'", {},
      nearest.empty() ? "choose one of: " + JoinNames(names) : "did you mean '" + nearest + "'?");
}

int Parse(const char* name, const char* about, const std::vector<AddCommand>& commands, int argc,
          char** argv, const OnFailure& on_failure) {
  CLI::App app(about, name);
  app.set_version_flag("-V,--version", RECPACK_VERSION);
  app.require_subcommand(1);
  app.failure_message([&](const CLI::App* failed, const CLI::Error& error) {
    return std::string(failed->get_name()) + ": " +
           UsageMessage(app, static_cast<const CLI::ParseError&>(error)) +
           "\nRun with --help for how to use it.\n";
  });
  int exit_code = kDone;
  for (const AddCommand add : commands) add(app, exit_code);
  AddCompletion(app, exit_code);
  AddPage(app, exit_code);
  std::vector<std::string> words = WithoutHelpCommand({argv + 1, argv + argc});
  RefuseUnknownCommand(app, words);
  try {
    std::ranges::reverse(words);  // as CLI11 takes a list
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    app.exit(error);
    if (!asked) on_failure(UsageMessage(app, error));
    return asked ? kDone : kFailure;
  }
  return exit_code;
}

// Tells whether all output reached stdout; it does not if the disk is full.
bool OutputIsWritten(const char* name) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "%s: cannot write all of the output%s%s\n", name, flushed ? "" : ": ",
               flushed ? "" : std::strerror(errno));
  return false;
}

}  // namespace

CLI::Validator Positive() {
  return Checked("POSITIVE", "above 0", [](double number) { return number > 0; });
}

CLI::Validator NotNegative() {
  return Checked("NONNEGATIVE", "0 or above", [](double number) { return number >= 0; });
}

int RunProgram(const char* name, const char* about, const std::vector<AddCommand>& commands,
               int argc, char** argv, const OnFailure& on_failure) {
  const auto told = [&](const std::string& reason) {
    if (on_failure) on_failure(reason);
  };
  const auto fail = [&](const std::string& reason) {
    std::fprintf(stderr, "%s: %s\n", name, reason.c_str());
    told(reason);
    return kFailure;
  };
  try {
    const int code = Parse(name, about, commands, argc, argv, told);
    return OutputIsWritten(name) || code != kDone ? code : kFailure;
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    return fail("out of memory: raise its limit (ulimit -v, container), or use fewer threads");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace recpack::tool
