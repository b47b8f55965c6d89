// recpack: packs many small files into TFRecord shards, and looks after shards.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "recpack/base/error.h"
#include "tools/recpack/command.h"

namespace recpack::tool {
namespace {

constexpr char kAbout[] =
    "recpack packs many small files into TFRecord shards, and lists, verifies and repairs shards.\n"
    "Exit codes: 0 done, 1 something was found (verify, skipped files), 2 usage or failure.";

// CLI11 alone would only say that a command is missing.
void RefuseUnknownCommand(const CLI::App& app, int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "-";
  if (command.starts_with('-')) return;
  std::string names;
  for (const CLI::App* there : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (there->get_name() == command) return;
    if (!there->get_group().empty()) names += (names.empty() ? "" : ", ") + there->get_name();
  }
  throw Error(ErrorKind::kInvalidArgument, "there is no command '" + command + "'", {},
              "choose one of: " + names);
}

int Run(int argc, char** argv) {
  CLI::App app(kAbout, "recpack");
  app.set_version_flag("--version", RECPACK_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return std::string(failed->get_name()) + ": " + error.what() +
           "\nRun with --help for how to use it.\n";
  });
  int exit_code = kDone;
  AddPack(app, exit_code);
  AddLs(app, exit_code);
  AddCat(app, exit_code);
  AddBatches(app, exit_code);
  AddBench(app, exit_code);
  AddAudit(app, exit_code);
  AddSheet(app, exit_code);
  AddIndex(app, exit_code);
  AddRepair(app, exit_code);
  AddVerify(app, exit_code);
  AddCompletion(app, exit_code);
  AddStandIn(app, exit_code);
  RefuseUnknownCommand(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    app.exit(error);
    return asked ? kDone : kFailure;
  }
  return exit_code;
}

}  // namespace
}  // namespace recpack::tool

int main(int argc, char** argv) {
  try {
    return recpack::tool::Run(argc, argv);
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "recpack: %s\n", error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "recpack: %s: %s\n", error.path1().c_str(),
                 error.code().message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recpack: %s\n", error.what());
  }
  return recpack::tool::kFailure;
}
