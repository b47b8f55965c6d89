// recpack: packs many small files into TFRecord shards, and manages shards.
#include "tools/recpack/command.h"

int main(int argc, char** argv) { return recpack::tool::RunRecpack(argc, argv); }
