// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a callback of a write that runs between log and memtable.

#include <functional>
#include <utility>

#include "varve/user_write_callback.h"

namespace varve::testing {

class AfterLog final : public UserWriteCallback {
 public:
  explicit AfterLog(std::function<void()> then) : then_(std::move(then)) {}
  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override { then_(); }

 private:
  const std::function<void()> then_;
};

}  // namespace varve::testing
