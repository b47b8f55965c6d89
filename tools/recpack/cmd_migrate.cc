// recpack migrate: changes a PyTorch program to load with recpack, by the Python package.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "recpack/base/error.h"
#include "tools/recpack/command.h"

namespace recpack::tool {
namespace {

// Exit code 2 is that of errors.
constexpr char kStart[] =
    "import sys\n"
    "try:\n"
    "    from recpack_io.migrate.__main__ import main\n"
    "except ImportError as error:\n"
    "    print(f'recpack: migrate needs the Python package recpack-io: {error}; install it, or set "
    "RECPACK_PYTHON to a Python that has it', file=sys.stderr)\n"
    "    sys.exit(2)\n"
    "sys.exit(main())\n";

// Does not return.
void RunPython(const std::vector<std::string>& arguments) {
  const char* const named = std::getenv("RECPACK_PYTHON");
  std::vector<std::string> words = {named != nullptr && *named != 0 ? named : "python3", "-c",
                                    kStart};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  throw Error(ErrorKind::kIo, std::string("cannot be run: ") + std::strerror(errno),
              {.path = words[0]}, "set RECPACK_PYTHON to a Python that has recpack-io");
}

}  // namespace

void AddMigrate(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string program;
    bool write = false;
  };
  CLI::App* migrate = app.add_subcommand(
      "migrate", "Change a PyTorch program so that it loads its data with recpack");
  auto flags = std::make_shared<Flags>();
  migrate->footer(
      "Prints the change as `diff -u` does; what is left as it is, and why, goes to standard error."
      "\nNeeds the Python package recpack-io. The program is not run."
      "\nExit codes: 0 there is a change, 1 nothing can be changed, 2 failure.\n\n"
      "Examples:\n  recpack migrate train.py\n  recpack migrate train.py --write");
  migrate->add_option("PROGRAM", flags->program, "A Python file")->required();
  migrate->add_flag("--write", flags->write, "Change the file");
  migrate->callback([flags, &exit_code] {
    exit_code = kDone;
    std::vector<std::string> arguments;
    if (flags->write) arguments.emplace_back("--write");
    arguments.insert(arguments.end(), {"--", flags->program});
    RunPython(arguments);
  });
}

}  // namespace recpack::tool
