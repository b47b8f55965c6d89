// A small learnable data set with the fields of CIFAR-10.
#pragma once

#include <filesystem>
#include <string>

namespace recpack::train {

// Splits train and test of `records` each, with 10 classes: the class determines which channel is
// bright, and how bright. Removed with the object.
class SmallCifar {
 public:
  explicit SmallCifar(int records);
  ~SmallCifar() { std::filesystem::remove_all(folder_); }
  SmallCifar(const SmallCifar&) = delete;
  SmallCifar& operator=(const SmallCifar&) = delete;

  const std::string& folder() const { return folder_; }
  // One more shard of the split, with `label` for all records.
  void AddLabels(int64_t label, int records, const std::string& split = "train") const;

 private:
  std::string folder_;
};

}  // namespace recpack::train
