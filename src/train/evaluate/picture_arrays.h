// Arrays of one batch of images in device memory, as an image model reads them.
#pragma once

#include <string>

#include "src/train/models/model.h"

namespace recpack::train {

// Not owned. The labels do not matter where only logits are read.
class PictureArrays final : public BatchArrays {
 public:
  PictureArrays(const void* pictures, const void* labels) : pictures_(pictures), labels_(labels) {}
  const void* Raw(const std::string& name) const override {
    return name == "image" ? pictures_ : labels_;
  }

 private:
  const void* pictures_;
  const void* labels_;
};

}  // namespace recpack::train
