// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlCompactionFilterFactory makes the compaction filters of a family with lifetimes. They drop
// values that are expired for every reader, and those that the user's own filter drops. The user's
// filter sees values without their stamps.
//
// With a merge operator, a value lives as long as the chain of operands on it, whose newer parts
// may lie in tables and memtables that are not inputs. So the key of a value that is expired by
// itself is looked up, and the value is dropped only if all of its chain is expired. A writer that
// adds to the chain meanwhile has a TtlHold, which keeps the horizon before its stamp until the
// look-up finds what it wrote.

#include <memory>

#include "varve/compaction_filter.h"

#include "db/ttl/ttl_state.h"

namespace varve {

// Thread safety: any thread; each filter is used by one compaction.
class TtlCompactionFilterFactory final : public CompactionFilterFactory {
 public:
  // The user's filter and factory may both be null. The filter has precedence; it must outlive this
  // object. `merges`: the family has a merge operator, so expired values may be the base of others.
  TtlCompactionFilterFactory(const CompactionFilter* user_filter,
                             std::shared_ptr<CompactionFilterFactory> user_factory, bool merges,
                             std::shared_ptr<TtlState> state, std::shared_ptr<TtlFamily> family);

  static const char* kClassName() { return "TtlCompactionFilterFactory"; }
  const char* Name() const override { return kClassName(); }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

  const CompactionFilter* user_filter() const { return user_filter_; }
  const std::shared_ptr<CompactionFilterFactory>& user_factory() const { return user_factory_; }

 private:
  const CompactionFilter* const user_filter_;
  const std::shared_ptr<CompactionFilterFactory> user_factory_;
  const bool merges_;
  const std::shared_ptr<TtlState> state_;
  const std::shared_ptr<TtlFamily> family_;
};

}  // namespace varve
