#include "tools/recpack/open_source.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/dataset/cifar.h"
#include "src/base/format.h"

namespace recpack::tool {
namespace {

constexpr char kKinds[] = "cifar10, cifar100";

std::string Recognise(const std::string& path) {
  if (LooksLikeCifar(path)) return "cifar";
  throw Error(ErrorKind::kInvalidArgument, "is nothing that recpack recognises", {.path = path},
              format("say what it is with --from: {}", kKinds));
}

}  // namespace

std::unique_ptr<Source> OpenSource(const SourceFlags& flags,
                                   std::map<std::string, std::string>& settings) {
  if (!std::filesystem::exists(flags.path)) {
    throw Error(ErrorKind::kNotFound, "there is no such file or folder", {.path = flags.path});
  }
  const std::string kind = flags.from.empty() ? Recognise(flags.path) : flags.from;
  if (!flags.splits.empty()) settings["splits"] = flags.splits;
  if (kind == "cifar" || kind == "cifar10" || kind == "cifar100") {
    CifarOptions options{.path = flags.path, .splits = flags.splits};
    if (kind == "cifar10") options.dataset = CifarDataset::kCifar10;
    if (kind == "cifar100") options.dataset = CifarDataset::kCifar100;
    return OpenCifar(options);
  }
  throw Error(ErrorKind::kInvalidArgument, format("'{}' is no kind of source", kind), {},
              format("choose one of: {}", kKinds));
}

}  // namespace recpack::tool
