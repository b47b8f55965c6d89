// recpack sheet: a contact sheet of a split.
#include <cstdio>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/dataset/sheet.h"
#include "recpack/image/encode.h"
#include "src/base/format.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

struct SheetFlags {
  std::string path;
  std::string out;
  std::string split;
  std::string shape;
  SheetOptions options;
  bool quiet = false;
  bool json = false;
};

std::array<int, 3> ParseShape(const std::string& text) {
  if (text.empty()) return {};
  std::array<int, 3> shape;
  int end = 0;
  if (std::sscanf(text.c_str(), "%dx%dx%d%n", &shape[0], &shape[1], &shape[2], &end) == 3 &&
      static_cast<size_t>(end) == text.size() && (shape[0] == 1 || shape[0] == 3) && shape[1] > 0 &&
      shape[2] > 0) {
    return shape;
  }
  throw Error(ErrorKind::kInvalidArgument, format("'{}' is no shape", text), {},
              "write CHANNELSxHEIGHTxWIDTH with 1 or 3 channels, like 3x32x32");
}

void RunSheet(SheetFlags& flags) {
  Layout layout = FindLayout(flags.path);
  if (!flags.split.empty()) layout = OnlySplit(std::move(layout), flags.split);
  flags.options.raw_shape = ParseShape(flags.shape);
  const Image sheet = DrawSheet(layout, layout.splits.front(), flags.options);
  WriteFileAtomically(PosixFiles(), flags.out, EncodePng(sheet), false);
  if (flags.json) {
    PrintJson({{"path", flags.out},
               {"width", sheet.width},
               {"height", sheet.height},
               {"split", layout.splits.front().name}});
  } else if (!flags.quiet) {
    std::printf("%s: %d by %d pixels, records of the split %s\n", flags.out.c_str(), sheet.width,
                sheet.height, layout.splits.front().name.c_str());
  }
}

}  // namespace

void AddSheet(CLI::App& app, int& exit_code) {
  CLI::App* sheet = app.add_subcommand("sheet", "Draw a contact sheet with labels");
  auto flags = std::make_shared<SheetFlags>();
  sheet->footer(
      "Examples:\n  recpack sheet shards sheet.png\n"
      "  recpack sheet shards sheet.png --split eval --columns 20 --rows 10 --seed 7");
  sheet->add_option("DATA", flags->path, "A folder of shards, a shard, or a pattern")->required();
  sheet->add_option("OUT", flags->out, "PNG file")->required();
  sheet->add_option("--split", flags->split, "Split (default: the first one)");
  sheet->add_option("--columns", flags->options.columns, "Pictures side by side (default 10)");
  sheet->add_option("--rows", flags->options.rows, "Rows of pictures (default 6)");
  sheet->add_option("--cell", flags->options.cell,
                    "Pixels of a picture's longer side (default 96)");
  sheet->add_option("--seed", flags->options.seed, "Which records (default 0)")
      ->check(WholeNumberIn(0));
  sheet->add_option("--shape", flags->shape, "CxHxW of pictures stored as raw planar bytes");
  sheet->add_flag("--quiet", flags->quiet, "Print errors only");
  sheet->add_flag("--json", flags->json, "Print one JSON object");
  sheet->callback([flags, &exit_code] {
    RunSheet(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
