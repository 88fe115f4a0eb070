// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a fence for two sides of which one is frequent and the other rare: the frequent side
// executes none, and the rare side makes every running thread of the process execute one
// (membarrier).

namespace varve {

// Executes a full fence in this thread and in all others of the process. Then a store that another
// thread made before a load either is visible here, or that load sees what this thread stored
// before the call; the other side needs std::atomic_signal_fence between the two. Costs a system
// call. Returns false, without a fence, if the system has none, and always under the thread
// sanitizer, which does not model it. Any thread may call it.
[[nodiscard]] bool HeavyFence();

// Prepares the process for HeavyFence, which otherwise does so at its first call. Returns false if
// HeavyFence always will.
bool PrepareHeavyFence();

}  // namespace varve
