// Trainers that are ranks of one job but whose exchanges are not observed ("hidden ranks").
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {

// The ranks of those trainers whose processes report one.
std::vector<ProcessRank> FindRanks(const std::vector<TrainerSteps>& trainers,
                                   const std::vector<ProcessRank>& reported);

// If a training was restarted in new processes, keeps the last start. Returns the number of
// trainers that were dropped.
size_t DropEarlierStarts(const std::vector<ProcessRank>& reported,
                         std::vector<TrainerSteps>& trainers);

// The rank of each trainer if all are different ranks of one job, else empty.
std::vector<ProcessRank> JobRanks(const std::vector<TrainerSteps>& trainers,
                                  const std::vector<ProcessRank>& reported);

// Number of a trainer for people: its rank, or its index if JobRanks() is empty.
size_t RankNumber(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                  size_t trainer);

// Tells whether the trainers are ranks of one job and report no exchanges.
bool AreHiddenRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// What these ranks measured of their exchanges of gradients, by trainer. Empty unless each of them
// did so in some steps.
std::vector<const GradientExchange*> FindExchanges(const Evidence& evidence,
                                                   const std::vector<TrainerSteps>& trainers);

// Share of their time that these ranks' exchanges of gradients take after the backward pass: of
// each step, what the rank waits that waits least. 0 where that is not known.
double ShareOfExchanges(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// The one of these ranks that waits least for the others' gradients. Returns nullopt if that is
// not known.
std::optional<SlowRank> FindSlowHiddenRank(const Evidence& evidence,
                                           const std::vector<TrainerSteps>& trainers);

// Tells whether a step consists of input waits and the training thread's own work only: there is no
// accelerator, and no other rank to wait for.
bool StepsAreOwnWork(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe
