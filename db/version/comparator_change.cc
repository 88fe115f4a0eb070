// SPDX-License-Identifier: Apache-2.0
#include "db/version/comparator_change.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

namespace {

// Suffix of the name of a built-in comparator with timestamps.
constexpr char kSuffix[] = ".u64ts";

// Returns the bound of a table whose keys have no timestamps, with one appended. An entry gets the
// smallest timestamp, zeros. The exclusive end of a range tombstone gets the largest: of all
// versions of a key the one with the largest timestamp sorts first, so the end still sorts before
// all of them.
InternalKey Padded(const InternalKey& key, size_t bytes) {
  VARVE_ASSERT(bytes > 0);
  const bool exclusive_end = key.sequence() == kMaxSequenceNumber;
  std::string user_key = key.user_key().ToString();
  user_key.append(bytes, exclusive_end ? '\xff' : '\0');
  return InternalKey(user_key, key.sequence(), key.type());
}

std::string Describe(const std::string& comparator, bool persist_timestamps) {
  return comparator + (persist_timestamps ? "" : " (persist_user_defined_timestamps = false)");
}

}  // namespace

Status CheckComparatorChange(const std::string& context, const FamilyOrder& before,
                             const Comparator& comparator, bool persist_timestamps,
                             TimestampSwitch* change) {
  const std::string now = comparator.Name();
  const bool has_timestamps = comparator.timestamp_size() != 0;
  std::string what;
  if (now == before.comparator) {
    *change = TimestampSwitch::kSame;
    if (has_timestamps && persist_timestamps != before.persist_timestamps) {
      what = "persist_user_defined_timestamps cannot change";
    }
  } else if (now == before.comparator + kSuffix && has_timestamps) {
    *change = TimestampSwitch::kOn;
    if (persist_timestamps) {
      what = "timestamps need persist_user_defined_timestamps = false to be switched on";
    }
  } else if (before.comparator == now + kSuffix && !has_timestamps) {
    *change = TimestampSwitch::kOff;
    if (before.persist_timestamps) what = "tables hold timestamps, which cannot be switched off";
  } else {  // RocksDB's words, which programs compare
    return Status::InvalidArgument(now, "does not match existing comparator " + before.comparator);
  }
  if (what.empty()) return Status::OK();
  return Status::InvalidArgument(
      context, "was created with comparator " +
                   Describe(before.comparator, !has_timestamps || before.persist_timestamps) +
                   ", not " + Describe(now, !has_timestamps || persist_timestamps) + ": " + what);
}

void NameComparator(const Comparator& comparator, bool persist_timestamps, VersionEdit* edit) {
  edit->family.comparator = comparator.Name();
  if (comparator.timestamp_size() != 0) edit->family.persist_timestamps = persist_timestamps;
}

// Refuses tables that the new comparator cannot read, and gives bounds without timestamps made-up
// ones. After an error some of the files are changed, and the edit is not to be used.
Status AdaptFiles(TimestampSwitch change, const InternalKeyComparator& icmp, VersionEdit* edit) {
  const size_t timestamp_size = icmp.timestamp_size();
  for (NewFile& file : edit->new_files) {
    const std::string name = "table " + std::to_string(file.number);
    if (change == TimestampSwitch::kOff && file.timestamps_persisted) {
      return Status::InvalidArgument(name + " holds timestamps, which " +
                                     icmp.user_comparator()->Name() + " has not");
    }
    if (timestamp_size == 0) continue;
    if (change == TimestampSwitch::kOn && file.oldest_blob_file_number != 0) {
      return Status::InvalidArgument(
          name +
          " refers to blob files, whose records have keys without timestamps: with "
          "enable_blob_files, timestamps cannot be switched on by a comparator with them");
    }
    if (change == TimestampSwitch::kOn) file.timestamps_persisted = false;
    if (!file.timestamps_persisted) {
      file.smallest = Padded(file.smallest, timestamp_size);
      file.largest = Padded(file.largest, timestamp_size);
    } else if (std::min(file.smallest.user_key().size(), file.largest.user_key().size()) <
               timestamp_size) {
      return Status::Corruption(name + " has a bound without a timestamp");
    }
  }
  return Status::OK();
}

}  // namespace varve
