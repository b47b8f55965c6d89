#include "recpack/device/batch.h"

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/device/slot.h"

namespace recpack {

DeviceBatch::DeviceBatch() = default;
DeviceBatch::DeviceBatch(DeviceBatch&&) noexcept = default;
DeviceBatch& DeviceBatch::operator=(DeviceBatch&&) noexcept = default;
DeviceBatch::~DeviceBatch() = default;

void DeviceBatch::OnStream(DeviceStream stream) {
  if (slot_ != nullptr) slot_->OnStream(stream);
}

const void* DeviceBatch::Raw(const std::string& name) const {
  for (size_t i = 0; i < arrays_->size(); ++i) {
    if ((*arrays_)[i].name == name) return Raw(i);
  }
  throw Error(ErrorKind::kInvalidArgument, format("the batch has no array '{}'", name), {},
              "it has: " + JoinNames(*arrays_, &ArraySpec::name));
}

}  // namespace recpack
