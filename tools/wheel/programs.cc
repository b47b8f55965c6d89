// recpack and recprobe as one file, which does what its name says: in wheels, most of both is the
// same library.
#include <filesystem>

#include "tools/recpack/command.h"
#include "tools/recprobe/command.h"

int main(int argc, char** argv) {
  const bool is_recprobe = argc > 0 && std::filesystem::path(argv[0]).filename() == "recprobe";
  return is_recprobe ? recpack::tool::RunRecprobe(argc, argv)
                     : recpack::tool::RunRecpack(argc, argv);
}
