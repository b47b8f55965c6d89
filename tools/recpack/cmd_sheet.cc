// recpack sheet: draws a contact sheet of a split.
#include <cstdio>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/image/encode.h"
#include "src/base/format.h"
#include "src/pack/check/sheet.h"
#include "tools/recpack/batch_sheet.h"
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
  pack::SheetOptions options;
  BatchSheetFlags batch;
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
  throw Error(ErrorKind::kInvalidArgument, format("not a shape: '{}'", text), {},
              "write CHANNELSxHEIGHTxWIDTH with 1 or 3 channels, like 3x32x32");
}

// Draws the sheet and returns a description of its content.
std::string Draw(SheetFlags& flags, Image& sheet) {
  if (!flags.batch.token.empty()) {
    sheet = DrawBatchBehind(flags.path, flags.split, flags.batch, flags.options);
    return "the batch after the token";
  }
  Layout layout = FindLayout(flags.path);
  if (!flags.quiet) NoteUnfinished(layout);
  if (!flags.split.empty()) layout = OnlySplit(std::move(layout), flags.split);
  flags.options.raw_shape = ParseShape(flags.shape);
  sheet = pack::DrawSheet(layout, layout.splits.front(), flags.options);
  flags.split = layout.splits.front().name;
  return "records of the split " + flags.split;
}

void RunSheet(SheetFlags& flags) {
  Image sheet;
  const std::string what = Draw(flags, sheet);
  WriteFileAtomically(PosixFiles(), flags.out, EncodePng(sheet), false);
  if (flags.json) {
    PrintJson({{"path", flags.out},
               {"width", sheet.width},
               {"height", sheet.height},
               {"split", flags.split}});
  } else if (!flags.quiet) {
    std::printf("%s: %d by %d pixels, %s\n", flags.out.c_str(), sheet.width, sheet.height,
                what.c_str());
  }
}

}  // namespace

void AddSheet(CLI::App& app, int& exit_code) {
  CLI::App* sheet = app.add_subcommand("sheet", "Draw a contact sheet with labels");
  auto flags = std::make_shared<SheetFlags>();
  sheet->footer(
      "Examples:\n  recpack sheet shards sheet.png\n"
      "  recpack sheet shards sheet.png --split eval --columns 20 --rows 10 --seed 7\n"
      "  recpack sheet shards sheet.png --recipe cifar10-eval --batch-size 8 --token \"$(recpack "
      "batches shards --recipe cifar10-eval --batch-size 8 --limit 1 | sed -n 's/token //p')\"");
  sheet->add_option("DATA", flags->path, "A folder of shards, a shard, or a pattern")->required();
  sheet->add_option("OUT", flags->out, "PNG file")->required();
  sheet->add_option("--split", flags->split, "Split (default: the first one)");
  sheet->add_option("--columns", flags->options.columns, "Pictures per row (default 10)");
  auto* rows = sheet->add_option("--rows", flags->options.rows, "Rows of pictures (default 6)");
  sheet->add_option("--cell", flags->options.cell,
                    "Maximum length of a picture's longer side [pixels] (default 96)");
  auto* seed = sheet->add_option("--seed", flags->options.seed, "Selects the records (default 0)")
                   ->check(WholeNumberIn(0));
  auto* shape =
      sheet->add_option("--shape", flags->shape, "CxHxW of pictures stored as raw planar bytes");
  auto* token = sheet
                    ->add_option("--token", flags->batch.token,
                                 "Show the batch that follows this token of a loader")
                    ->excludes(rows, seed, shape);
  token->needs(sheet
                   ->add_option("--recipe", flags->batch.recipe,
                                "With --token: cifar10-train, cifar10-eval, imagenet-train or "
                                "imagenet-eval")
                   ->needs(token));
  sheet
      ->add_option("--batch-size", flags->batch.batch_size,
                   "With --token: samples per batch (default 256)")
      ->check(WholeNumberIn(1, UINT32_MAX))
      ->needs(token);
  sheet->add_flag("--quiet", flags->quiet, "Print errors only");
  sheet->add_flag("--json", flags->json, "Print one JSON object");
  sheet->callback([flags, &exit_code] {
    RunSheet(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
