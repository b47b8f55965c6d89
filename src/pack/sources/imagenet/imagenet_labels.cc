#include "src/pack/sources/imagenet/imagenet_labels.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/archive_members.h"
#include "src/pack/item/field_values.h"
#include "src/pack/sources/imagenet/mat_file.h"
#include "src/shards/files/path_pattern.h"

namespace recpack::pack {
namespace {

constexpr const char* kTruthName = "ILSVRC2012_validation_ground_truth.txt";
constexpr const char* kMetaName = "meta.mat";
constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

struct DevkitFiles {
  ByteBuffer truth;
  ByteBuffer meta;
};

DevkitFiles FromFolder(const std::string& path) {
  for (const char* inside : {"", "/data", "/ILSVRC2012_devkit_t12/data"}) {
    const std::string folder = path + inside + "/";
    if (!IsFile(folder + kTruthName)) continue;
    return {ReadWholeFile(PosixFiles(), folder + kTruthName, kMaxFileBytes),
            ReadWholeFile(PosixFiles(), folder + kMetaName, kMaxFileBytes)};
  }
  throw Error(ErrorKind::kNotFound, format("holds no data/{}", kTruthName), {.path = path});
}

DevkitFiles FromArchive(const std::string& path) {
  DevkitFiles files;
  const auto ends_as = [](const std::string& name, const char* file) {
    return name.ends_with(format("/data/{}", file));
  };
  const auto members =
      ReadArchiveMembers(*PosixFiles().OpenForReading(path), [&](const std::string& name) {
        return ends_as(name, kTruthName) || ends_as(name, kMetaName);
      });
  for (const ArchiveMember& member : members) {
    ByteBuffer& file = ends_as(member.name, kTruthName) ? files.truth : files.meta;
    file.assign(member.bytes().begin(), member.bytes().end());
  }
  if (!files.truth.empty() && !files.meta.empty()) return files;
  throw Error(ErrorKind::kNotFound, format("holds no data/{} and data/{}", kTruthName, kMetaName),
              {.path = path});
}

// Reads the kit's own ids, from 1, with their WordNet ids. The classes are the synsets without
// children.
std::map<int64_t, std::string> ReadSynsets(ByteView meta) {
  const MatStruct synsets = ReadMatStruct(meta, "synsets");
  const size_t id = synsets.FieldIndex("ILSVRC2012_ID");
  const size_t wnid = synsets.FieldIndex("WNID");
  const size_t children = synsets.FieldIndex("num_children");
  std::map<int64_t, std::string> classes;
  for (size_t i = 0; i < synsets.elements; ++i) {
    const auto& number = synsets.Cell(i, id).numbers;
    const auto& count = synsets.Cell(i, children).numbers;
    const std::string& name = synsets.Cell(i, wnid).text;
    if (number.size() != 1 || !(std::abs(number[0]) < 1e6) || count.size() != 1 || name.empty()) {
      throw Error(ErrorKind::kCorrupt, format("synset {} has no id, name or children", i + 1));
    }
    if (count[0] == 0) classes[static_cast<int64_t>(number[0])] = name;
  }
  return classes;
}

uint32_t FindIndex(const std::vector<std::string>& sorted, const std::string& name) {
  return static_cast<uint32_t>(std::ranges::lower_bound(sorted, name) - sorted.begin());
}

std::vector<std::string> Lines(ByteView text) {
  std::vector<std::string> lines = SplitText(AsText(text), '\n');
  for (std::string& line : lines) line = TrimSpace(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

ImagenetLabels MakeLabels(const DevkitFiles& files, const std::string& path) {
  ImagenetLabels labels = {.path = path, .classes = {}, .labels = {}};
  const auto synsets = ReadSynsets(files.meta);
  for (const auto& [id, name] : synsets) labels.classes.push_back(name);
  SortAndUnite(labels.classes);
  for (const std::string& line : Lines(files.truth)) {
    const auto id = ParseInt64(line);
    const auto found = id ? synsets.find(*id) : synsets.end();
    if (found == synsets.end()) {
      throw Error(ErrorKind::kCorrupt, format("{} line {}: class '{}' is not in meta.mat",
                                              kTruthName, labels.labels.size() + 1, line));
    }
    labels.labels.push_back(FindIndex(labels.classes, found->second));
  }
  return labels;
}

bool IsWordnetId(const std::string& text) {
  return text.size() == 9 && text[0] == 'n' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

uint32_t ImagenetLabels::Label(uint64_t image) const {
  if (image >= 1 && image <= labels.size()) return labels[image - 1];
  throw Error(ErrorKind::kCorrupt,
              format("has {} labels and none for validation image {}", labels.size(), image),
              {.path = path});
}

ImagenetLabels ReadImagenetDevkit(const std::string& path) {
  const DevkitFiles files = IsFolder(path) ? FromFolder(path) : FromArchive(path);
  try {
    return MakeLabels(files, path);
  } catch (const Error& error) {
    throw error.At({.path = path});
  }
}

ImagenetLabels ReadImagenetLabelList(const std::string& path) {
  const std::vector<std::string> lines = Lines(ReadWholeFile(PosixFiles(), path, kMaxFileBytes));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (IsWordnetId(lines[i])) continue;
    throw Error(ErrorKind::kCorrupt, format("line {}: not a WordNet id: '{}'", i + 1, lines[i]),
                {.path = path}, "write one id per line, such as n01440764");
  }
  ImagenetLabels labels = {.path = path, .classes = lines, .labels = {}};
  SortAndUnite(labels.classes);
  for (const std::string& line : lines) labels.labels.push_back(FindIndex(labels.classes, line));
  return labels;
}

}  // namespace recpack::pack
