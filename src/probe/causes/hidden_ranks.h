// Trainers that go in step by exchanges that nobody tells of.
#pragma once

#include <cstddef>
#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Of those trainers of which it was told.
std::vector<ProcessRank> ToldOf(const std::vector<TrainerSteps>& trainers,
                                const std::vector<ProcessRank>& told);

// Of a training that was started again in other processes, the last start is left. Returns how many
// processes were left out.
size_t LeaveOutEarlierStarts(const std::vector<ProcessRank>& told,
                             std::vector<TrainerSteps>& trainers);

// Of each trainer, where all are ranks of one job, each another one's; else empty.
std::vector<ProcessRank> RanksOf(const std::vector<TrainerSteps>& trainers,
                                 const std::vector<ProcessRank>& told);

// By which people know the trainer: its rank, else its place among the trainers.
size_t RankOf(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, size_t trainer);

// Whether the trainers are such ranks and go in step by exchanges that nobody tells of.
bool AreHiddenRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// Whether a step is nothing but waits for input and the training thread's own work: there is no
// accelerator, and no other rank to wait for.
bool StepsAreOwnWork(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe
