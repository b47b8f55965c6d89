// Downloads a file: download_program URL SHA256 PATH. Prints an error as the programs do.
#include <cstdio>
#include <exception>

#include "src/remote/store/download.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    recpack::remote::DownloadFile({.url = argv[1], .sha256 = argv[2]}, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
