// Turns a file into features: those of a sound where it is one, else those of an image.
#pragma once

#include <optional>
#include <string_view>

#include "recpack/audio/wav.h"
#include "recpack/base/bytes.h"
#include "recpack/example/builder.h"
#include "src/pack/item/image_fields.h"

namespace recpack::pack {

// Names of the features that say where a file lies and of which class it is.
struct FileNames {
  std::string_view filename;
  std::string_view label;
  std::string_view text;  // of the label
};

// Returns nullopt for a WAV file of an encoding that is not read, such as A-law: it is not damaged.
// Throws as ParseWav() else.
std::optional<WavSound> ParseSupportedWav(ByteView file);

// Adds the features of the file called `name` (docs/reference/sources.md) and returns the names for
// the others. A sound is what begins as a WAV file, or has the extension of a sound and is no
// image. `features` keeps views of `bytes`, or of memory of `images` as ImageFields::Process()
// says.
//
// Throws Error with the name as its path: kCorrupt for a WAV file that is cut or contradicts
// itself, others as ImageFields::Process().
const FileNames& AddFile(ByteView bytes, std::string_view name, ImageFields& images,
                         ExampleBuilder& features);

}  // namespace recpack::pack
