// Tells which features of a split hold pictures, by their names and their first values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "recpack/base/bytes.h"
#include "recpack/example/view.h"
#include "src/shards/manifest/name_list.h"

namespace recpack::pack {

// Tells whether the bytes begin as a JPEG, PNG, GIF or WebP, by signatures that other data does not
// begin with (BMP's is too short).
bool BeginsAsPicture(ByteView value) noexcept;

// Names under which the loader looks for a picture are believed, as are names that end in a format
// (`jpg`, `left.png`). Values decide where a name says too little: `image` holds arrays if most of
// its first values are neither pictures nor text, and a feature of any other name holds pictures if
// most of its first values are.
class PictureFeatures {
 public:
  // Counts the values of a record.
  void Learn(const ExampleView& record);

  // Tells whether the feature's values in `record` must be pictures. image/format, if the record
  // has it, must not name another format.
  bool MustBePicture(const ExampleView& record, std::string_view feature) const;

 private:
  struct Seen {
    uint64_t values = 0;
    uint64_t pictures = 0;
    uint64_t arrays = 0;  // neither pictures nor text
  };

  std::map<std::string, Seen, std::less<>> seen_;
};

// Learns from the first 100 intact records of the shards. Never throws for damage or missing files.
PictureFeatures LearnPictures(const NameList& shards);

}  // namespace recpack::pack
