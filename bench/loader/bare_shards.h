// The shards of the train split, mapped whole.
#pragma once

#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/framing.h"
#include "src/shards/index/pick.h"
#include "src/shards/layout/layout.h"

namespace recpack::bench {

struct MappedShards {
  explicit MappedShards(const std::string& data) : MappedShards(SplitOf(data)) {}

  ByteView Frame(uint64_t id) const {
    const RecordLocation at = index.Locate(id);
    return files[at.shard].bytes().subspan(at.offset, at.length + kFrameBytes);
  }
  static ByteView PayloadOf(ByteView frame) {
    return frame.subspan(kFrameHeaderBytes, frame.size() - kFrameBytes);
  }

  Index index;
  std::vector<MappedFile> files;

 private:
  explicit MappedShards(const LayoutSplit& split) : index(OpenSplitIndex(split)) {
    for (const auto& path : split.shards) files.emplace_back(path);
  }
  static LayoutSplit SplitOf(const std::string& data) {
    Layout layout = FindLayout(data);
    return layout.splits.size() == 1 ? layout.splits.front()
                                     : OnlySplit(std::move(layout), "train").splits.front();
  }
};

}  // namespace recpack::bench
