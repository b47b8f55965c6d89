// The vocabulary beside a data set: its size, and vectors of its tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/train/setup/trainer_options.h"
#include "src/train/words/word_vectors.h"

namespace recpack::train {

// Counts the lines of vocabulary.txt beside the shards; one token per line. Throws Error:
// kNotFound, kIo.
int64_t CountTokens(const std::string& data);

// Reads options.word_vectors for the tokens of the data's vocabulary, of which the model has the
// first options.deepconn.vocabulary, and reports how many have a vector. Words and tokens are
// compared byte by byte. Throws Error: as CountTokens(), Vocabulary() and ReadWordVectors(); and
// kInvalidArgument if no token has a vector.
std::unique_ptr<WordVectors> LoadWordVectors(const TrainerOptions& options,
                                             const TrainerNotice& notice);

}  // namespace recpack::train
