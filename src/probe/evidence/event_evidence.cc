#include "src/probe/evidence/event_evidence.h"

namespace recpack::probe {

void EventEvidence::Add(std::vector<TimedEvent>& events) {
  families_.Add(events);
  lines_.Take(events, families_);
  kept_.Add(events);
  locks_.Add(events);
  input_samples_.Add(events);
  ranks_.Add(events);
  settings_.Add(events);
  exchanges_.Add(events);
}

void EventEvidence::AddTo(Evidence& evidence) const {
  evidence.locks = locks_.Uses();
  evidence.input_works = input_samples_.Works();
  for (InputWork& work : evidence.input_works) work.trainer = families_.TrainerOf(work.process);
  evidence.lines = lines_.Lines();
  evidence.lines_of.clear();
  if (families_.trainers().size() > 1) {
    for (const int trainer : families_.trainers()) {
      evidence.lines_of[trainer] = lines_.LinesOf(trainer, families_);
    }
  }
  evidence.ranks = ranks_.All();
  evidence.settings = settings_.All();
  evidence.exchanges = exchanges_.Means();
}

}  // namespace recpack::probe
