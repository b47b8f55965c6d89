// recprobe: tells whether a training is input-bound, where, and what fixing it would gain.
#include "tools/recprobe/command.h"

int main(int argc, char** argv) { return recpack::tool::RunRecprobe(argc, argv); }
