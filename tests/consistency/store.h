// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the database that the checkers use: several column families, with every way of reading.
// It is virtual so that a test can plant a bug between a checker and the database.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/write_batch.h"

#include "tests/consistency/findings.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

struct Cell {
  size_t family = 0;
  std::string key;
};

// Content of a key; nothing when it is absent.
using Content = std::optional<std::string>;

enum class Direction { kForward, kBackward };

// Selects keys in [lower, upper) of these families, one family after the other.
struct ScanRange {
  std::vector<size_t> families;
  std::string lower;
  std::string upper;
};
using RowVisitor = std::function<void(size_t family, const Slice& key, const Slice& value)>;

// Thread-safe. A snapshot of nullptr reads the present; MultiGet and Scan then read one moment of
// it. A call that fails is a finding.
class Store {
 public:
  static constexpr size_t kFamilies = 3;

  // Takes ownership of the open database. A family with timestamps follows the plain families.
  Store(const WriteMode& mode, std::unique_ptr<DB> db, std::vector<ColumnFamilyHandle*> handles,
        Findings* findings);
  virtual ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const WriteMode& mode() const { return mode_; }
  Findings* findings() const { return findings_; }
  ColumnFamilyHandle* family(size_t i) const { return handles_[i]; }

  // Returns when the write is acknowledged. Retries what no_slowdown refused.
  virtual void Write(WriteBatch* batch, Random* random);
  virtual Content Get(const Cell& cell, const Snapshot* snapshot);
  virtual std::vector<Content> MultiGet(const std::vector<Cell>& cells, const Snapshot* snapshot);
  virtual void Scan(const ScanRange& range, const Snapshot* snapshot, Direction direction,
                    const RowVisitor& visit);

  // Adds a put to the family with timestamps.
  void AddWithTimestamp(WriteBatch* batch, const std::string& key, uint64_t moment,
                        const std::string& value);
  void RaiseMark(uint64_t moment);
  // Returns all values at that timestamp, by a scan in either direction, or nothing if it is below
  // full_history_ts_low.
  virtual std::optional<std::vector<std::string>> ReadAsOf(uint64_t moment, bool forward);

  const Snapshot* Take();
  void Release(const Snapshot* snapshot);
  // Flushes or compacts something.
  void Maintain(Random* random);
  // Returns the reason of a stall, for messages.
  std::string StallState();
  // Returns how often memtables or tables of all families changed.
  uint64_t TreeChanges();

 private:
  const WriteMode& mode_;
  const std::unique_ptr<DB> db_;
  const std::vector<ColumnFamilyHandle*> handles_;
  Findings* const findings_;
};

}  // namespace varve::testing
