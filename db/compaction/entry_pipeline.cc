// SPDX-License-Identifier: Apache-2.0

// Moves chunks between the two threads.

#include "db/compaction/entry_pipeline.h"

#include <utility>

namespace varve {

EntryPipeline::EntryPipeline(Take take)
    : take_(std::move(take)),
      pipeline_({.threads = 1, .places = kChunks},
                {.prepare = nullptr, .finish = [this](size_t place, uint64_t* /*weight*/) {
                   return take_(chunks_[place]);
                 }}) {}

// A chunk's place in the pipeline is its index in chunks_. All weights are 0: they would limit what
// is under way, which the number of chunks does already.
bool EntryPipeline::HandOver() {
  pipeline_.Push(0);
  size_t place = 0;
  const Status s = pipeline_.Wait(0, &place);
  filling_ = &chunks_[place];
  filling_->Clear();
  return s.ok();
}

Status EntryPipeline::Sync() {
  if (!filling_->empty()) HandOver();
  return pipeline_.Drain();
}

}  // namespace varve
