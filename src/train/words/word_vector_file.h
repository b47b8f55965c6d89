// Reads files of word vectors: word2vec's text and binary form, and GloVe's text form.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "recpack/base/file.h"
#include "src/train/words/word_vectors.h"

namespace recpack::train {

// The table that vectors are read for.
struct WordTableRows {
  int64_t dims = 0;
  uint32_t rows = 0;
  // The row of a word, or 0 if the table has none: row 0 is padding.
  std::function<uint32_t(std::string_view word)> row_of;
};

struct WordVectorFile {
  WordVectors vectors;
  uint64_t words = 0;  // in the file
};

// Reads the vectors of words that the table has. A word that occurs twice has its first vector. The
// form is recognised: a first line of two whole numbers, words and values of a vector, is
// word2vec's (Mikolov et al., 2013), and what follows is its text form if it is text; a first line
// of a word and numbers is GloVe's (Pennington et al., 2014). The file is read once from start to
// end; memory is 1 MiB, and the vectors that the table has.
//
// Throws Error with path and offset: kCorrupt for a file of none of these forms, or one that is cut
// or damaged; kInvalidArgument for vectors of another size; kUnsupported for a compressed file;
// kIo.
WordVectorFile ReadWordVectors(const ReadableFile& file, const WordTableRows& table);

}  // namespace recpack::train
