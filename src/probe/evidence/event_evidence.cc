#include "src/probe/evidence/event_evidence.h"

namespace recpack::probe {

void EventEvidence::Add(std::vector<TimedEvent>& events) {
  lines_.Take(events);
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
  evidence.lines = lines_.Lines();
  evidence.ranks = ranks_.All();
  evidence.settings = settings_.All();
  evidence.exchanges = exchanges_.Means();
}

}  // namespace recpack::probe
