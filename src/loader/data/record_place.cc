#include "src/loader/data/record_place.h"

#include "recpack/base/error.h"
#include "recpack/loader/dataset.h"

namespace recpack {

void RethrowWithPlace(const Dataset& dataset, uint64_t id) {
  try {
    throw;
  } catch (const Error& error) {
    if (!error.place().path.empty()) throw;
    std::throw_with_nested(error.At(dataset.FindPlace(id)));
  } catch (const std::exception& error) {
    std::throw_with_nested(Error(ErrorKind::kInvalidArgument, error.what(), dataset.FindPlace(id)));
  } catch (...) {
    std::throw_with_nested(Error(ErrorKind::kInvalidArgument,
                                 "an exception was thrown that is not a std::exception",
                                 dataset.FindPlace(id)));
  }
}

}  // namespace recpack
