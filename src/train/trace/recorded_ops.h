// Writes an event for each operation of a device that computes on the calling thread.
#pragma once

#include <cstdint>
#include <memory>

#include "src/train/ops/ops.h"

namespace recpack::train {

// Returns `ops`, wrapped so that each of its operations is an event of kind kDevice in the event
// log of the process, under the number `device`. Names are the class of operation, its direction
// and its layer ("convolution backward weights layer1.0.conv1"); ClassifyOperation() of probe reads
// the class from them. Returns `ops` itself if there is no log or its readers did not ask for
// operations (RECPACK_EVENTS_DETAIL), and for devices with a Stream(), whose driver reports their
// work.
std::unique_ptr<Ops> RecordOperations(std::unique_ptr<Ops> ops, uint16_t device);

}  // namespace recpack::train
