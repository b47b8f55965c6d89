#include "src/train/setup/data_vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "src/base/format.h"
#include "src/pack/sources/reviews/vocabulary.h"
#include "src/train/words/word_vector_file.h"

namespace recpack::train {
namespace {

std::string VocabularyPath(const std::string& data) {
  const std::filesystem::path path(data);
  const auto file = (std::filesystem::is_directory(FileStatus(data)) ? path : path.parent_path()) /
                    pack::kVocabularyName;
  if (PosixFiles().Exists(file)) return file;
  throw Error(ErrorKind::kNotFound, "there is no vocabulary", {.path = file},
              "give its size, or make shards with 'recpack pack --from reviews'");
}

uint64_t Number64(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(0, value)); }

}  // namespace

int64_t CountTokens(const std::string& data) {
  const ByteBuffer text = ReadWholeFile(PosixFiles(), VocabularyPath(data));
  return std::count(text.begin(), text.end(), static_cast<uint8_t>('\n'));
}

std::unique_ptr<WordVectors> LoadWordVectors(const TrainerOptions& options,
                                             const TrainerNotice& notice) {
  const DeepconnOptions& deepconn = options.deepconn;
  const pack::Vocabulary vocabulary(VocabularyPath(options.data));
  const auto rows = static_cast<uint32_t>(
      std::min<int64_t>(deepconn.vocabulary, std::numeric_limits<uint32_t>::max()));
  const auto file = PosixFiles().OpenForReading(options.word_vectors);
  WordVectorFile read =
      ReadWordVectors(*file, {deepconn.dims, rows, [&vocabulary](std::string_view word) {
                                const uint32_t id = vocabulary.Id(word);
                                return id == pack::kUnknownToken ? pack::kPaddingToken : id;
                              }});
  const uint64_t found = read.vectors.rows.size();
  const uint64_t tokens =
      Number64(std::min<int64_t>(rows, CountTokens(options.data)) - pack::kFirstToken);
  if (found == 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("none of its {} words is a token of the vocabulary", CountText(read.words)),
                {.path = options.word_vectors},
                "give vectors of the texts' language; tokens are in lower case");
  }
  if (notice) {
    notice(
        format("{} of {} tokens have their vectors from {}, which has {} words; the other {} "
               "begin with seeded values",
               CountText(found), CountText(tokens), options.word_vectors, CountText(read.words),
               CountText(tokens - std::min(found, tokens))));
  }
  return std::make_unique<WordVectors>(std::move(read.vectors));
}

}  // namespace recpack::train
