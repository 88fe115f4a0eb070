// SPDX-License-Identifier: Apache-2.0

// Implements the built-in comparators: bytes ascending and descending, each also with a 64-bit
// timestamp after the key.

#include "varve/comparator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/base/assert.h"
#include "util/base/registered_object.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

constexpr unsigned char kMaxByte = 0xff;
constexpr size_t kU64TsSize = sizeof(uint64_t);
constexpr size_t kDefaultTimestampBytesMax = 64;

unsigned char ByteAt(const Slice& s, size_t i) {
  return static_cast<unsigned char>(s[i]);
}

// Truncates *key after position `i` and increments that byte. Requires that it is not 0xff.
void CutAndRaise(std::string* key, size_t i) {
  (*key)[i] = static_cast<char>(static_cast<unsigned char>((*key)[i]) + 1);
  key->resize(i + 1);
}

// Returns the first position from `from` on whose byte can be incremented, or the size.
size_t FirstRaisable(const Slice& key, size_t from) {
  while (from < key.size() && ByteAt(key, from) == kMaxByte) ++from;
  return from;
}

// The names of the four orders are stored in MANIFESTs, tables and OPTIONS files, and are compared
// when a database is opened.
class BytewiseOrder final : public Comparator {
 public:
  static const char* kClassName() { return "leveldb.BytewiseComparator"; }
  const char* Name() const override { return kClassName(); }

  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                              bool /*b_has_ts*/) const override {
    return a.compare(b);
  }

  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t split = Slice(*start).difference_offset(limit);
    if (split == start->size() || split == limit.size()) return;  // One is a prefix of the other.
    const unsigned char low = ByteAt(*start, split);
    const unsigned char high = ByteAt(limit, split);
    if (low > high) return;  // Not in order: leaves it unchanged.
    // Incrementing the first different byte stays below `limit` if there is a value in between, or
    // if `limit` goes on after that byte.
    if (low + 1 < high || split + 1 < limit.size()) {
      CutAndRaise(start, split);
      return;
    }
    // The incremented byte would equal all of `limit`. Any increment further right stays below it.
    const size_t raise = FirstRaisable(*start, split + 1);
    if (raise < start->size()) CutAndRaise(start, raise);
  }

  void FindShortSuccessor(std::string* key) const override {
    const size_t raise = FirstRaisable(*key, 0);
    if (raise < key->size()) CutAndRaise(key, raise);
  }

  bool IsSameLengthImmediateSuccessor(const Slice& s, const Slice& t) const override {
    if (s.size() != t.size()) return false;
    size_t i = s.difference_offset(t);
    if (i == s.size() || ByteAt(s, i) + 1 != ByteAt(t, i)) return false;
    // In numbers, t == s + 1 requires that after the carry s is all ones and t all zeros.
    for (++i; i < s.size(); ++i) {
      if (ByteAt(s, i) != kMaxByte || ByteAt(t, i) != 0) return false;
    }
    return true;
  }
};

class ReverseBytewiseOrder final : public Comparator {
 public:
  static const char* kClassName() { return "rocksdb.ReverseBytewiseComparator"; }
  const char* Name() const override { return kClassName(); }

  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                              bool /*b_has_ts*/) const override {
    return b.compare(a);
  }

  // A prefix sorts after its extensions here, so truncation moves a key towards `limit`: it must
  // keep just enough bytes to stay bytewise above it.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t split = Slice(*start).difference_offset(limit);
    if (split == start->size()) return;  // A prefix of `limit`, or equal: not in order.
    if (split < limit.size() && ByteAt(*start, split) < ByteAt(limit, split)) return;
    start->resize(split + 1);
  }

  // Every prefix of the key sorts after it. The key is nevertheless left unchanged: the gain is a
  // few bytes a file, and other keys may differ only after such a prefix.
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

// Decodes a timestamp. One of another length is a caller's mistake, and counts as the oldest.
uint64_t TimestampOf(const Slice& ts) {
  VARVE_ASSERT(ts.size() == kU64TsSize);
  return ts.size() == kU64TsSize ? DecodeFixed64(ts.data()) : 0;
}

// A bytewise comparator with timestamps: orders keys by `Order`, then the newest first.
template <typename Order>
class WithU64Ts final : public Comparator {
 public:
  explicit WithU64Ts(const char* name) : Comparator(kU64TsSize), name_(name) {}

  const char* Name() const override { return name_; }

  int Compare(const Slice& a, const Slice& b) const override {
    const int order = order_.Compare(Key(a, true), Key(b, true));
    return order != 0 ? order : CompareTimestamp(Timestamp(b), Timestamp(a));
  }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  // Finds a key between the two keys, and appends the largest timestamp.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    // With the largest timestamp the separator sorts before all versions of the shortened key. A
    // result that is not shorter is not worth a change.
    std::string key = Key(*start, true).ToString();
    order_.FindShortestSeparator(&key, Key(limit, true));
    if (key.size() + kU64TsSize >= start->size()) return;
    *start = key.append(MaxU64Ts().data(), kU64TsSize);
  }
  void FindShortSuccessor(std::string* /*key*/) const override {}

  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    return order_.Compare(Key(a, a_has_ts), Key(b, b_has_ts));
  }
  int CompareTimestamp(const Slice& ts1, const Slice& ts2) const override {
    const uint64_t t1 = TimestampOf(ts1);
    const uint64_t t2 = TimestampOf(ts2);
    return (t1 > t2 ? 1 : 0) - (t1 < t2 ? 1 : 0);
  }

  Slice GetMaxTimestamp() const override { return MaxU64Ts(); }
  Slice GetMinTimestamp() const override { return MinU64Ts(); }
  std::string TimestampToString(const Slice& timestamp) const override {
    return std::to_string(TimestampOf(timestamp));
  }

 private:
  // Returns the key part. Keys also come from files: one that is too short must not be read beyond
  // its end.
  static Slice Key(const Slice& s, bool has_ts) {
    if (!has_ts) return s;
    return Slice(s.data(), s.size() < kU64TsSize ? 0 : s.size() - kU64TsSize);
  }
  static Slice Timestamp(const Slice& s) {
    if (s.size() < kU64TsSize) return MinU64Ts();
    return Slice(s.data() + (s.size() - kU64TsSize), kU64TsSize);
  }

  const Order order_;
  const char* const name_;
};

// Holds an object that is never destroyed, because programs keep these pointers in their own
// statics.
template <typename T>
union NeverDestroyed {
  template <typename... Args>
  explicit NeverDestroyed(Args... args) : value(args...) {}
  ~NeverDestroyed() {}  // NOLINT(modernize-use-equals-default): must not destroy the member
  T value;
};

}  // namespace

// A program's comparator with another order of timestamps overrides both functions; ValidateOptions
// checks their sizes.
Slice Comparator::GetMaxTimestamp() const {
  static constexpr auto kBytes = [] {
    std::array<char, kDefaultTimestampBytesMax> bytes{};
    bytes.fill('\xff');
    return bytes;
  }();
  return Slice(kBytes.data(), std::min(timestamp_size_, kBytes.size()));
}

Slice Comparator::GetMinTimestamp() const {
  static constexpr char kBytes[kDefaultTimestampBytesMax] = {};
  return Slice(kBytes, std::min(timestamp_size_, sizeof(kBytes)));
}

const Comparator* BytewiseComparator() {
  static const NeverDestroyed<BytewiseOrder> order;
  return &order.value;
}

const Comparator* ReverseBytewiseComparator() {
  static const NeverDestroyed<ReverseBytewiseOrder> order;
  return &order.value;
}

const Comparator* BytewiseComparatorWithU64Ts() {
  static const NeverDestroyed<WithU64Ts<BytewiseOrder>> order("leveldb.BytewiseComparator.u64ts");
  return &order.value;
}

const Comparator* ReverseBytewiseComparatorWithU64Ts() {
  static const NeverDestroyed<WithU64Ts<ReverseBytewiseOrder>> order(
      "rocksdb.ReverseBytewiseComparator.u64ts");
  return &order.value;
}

Status Comparator::CreateFromString(const ConfigOptions& opts, const std::string& id,
                                    const Comparator** comp) {
  if (id.empty() || id == "nullptr") {
    *comp = nullptr;
    return Status::OK();
  }
  Status s = NewRegisteredObject(opts, id, comp);
  if (!s.IsNotFound()) return s;
  for (const Comparator* candidate :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    if (id == candidate->Name()) {
      *comp = candidate;
      return Status::OK();
    }
  }
  return Status::NotSupported("No comparator of this name is built in or registered", id);
}

Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts) {
  if (ts.size() != kU64TsSize) {
    return Status::InvalidArgument("U64Ts timestamp must have 8 bytes",
                                   "got " + std::to_string(ts.size()));
  }
  *int_ts = DecodeFixed64(ts.data());
  return Status::OK();
}

Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf) {
  ts_buf->clear();
  PutFixed64(ts_buf, ts);
  return *ts_buf;
}

Slice MaxU64Ts() {
  static constexpr char kBytes[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
  return Slice(kBytes, kU64TsSize);
}

Slice MinU64Ts() {
  static constexpr char kBytes[kU64TsSize] = {};
  return Slice(kBytes, kU64TsSize);
}

}  // namespace varve
