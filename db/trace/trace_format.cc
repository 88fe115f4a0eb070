// SPDX-License-Identifier: Apache-2.0

// A record is a head of thirteen bytes and a payload. From version 0.2 on a payload begins with a
// map of its fields, a bit for each, and has those fields in the order of their bits; version 0.1
// has no map, and each type has all of its fields (a write's payload is its batch alone). Fields
// are numbers of four bytes, or texts behind a varint with their length.
//
//     micros 8 | type 1 | payload size 4 | map 8 | field | field | ...
//
// An encoder computes the size of a record first and then fills the caller's buffer, which is
// reused, because calls of the database wait for it. A decoder trusts no byte: the fields must be
// those of the type and must fill the payload exactly, and memory is allocated only for bytes that
// are there.

#include "db/trace/trace_format.h"

#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/coding/reader.h"
#include "util/coding/varint.h"

namespace varve::trace {

namespace {

constexpr std::string_view kMagic = "feedcafedeadbeef\t";
constexpr std::string_view kVersionWord = "Trace Version: ";
constexpr std::string_view kHeader =
    "feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 11.8\t"
    "Format: Timestamp OpType Payload\n";

// Numbers of the fields of a payload: the bits of its map, which also give their order.
enum Field : uint8_t {
  kBatch = 1,
  kGetFamily = 2,
  kGetKey = 3,
  kSeekFamily = 4,
  kSeekKey = 5,
  kLowerBound = 6,
  kUpperBound = 7,
  kKeyCount = 8,
  kFamilies = 9,
  kKeys = 10,
  kFieldsEnd = 11,
};

constexpr size_t kMapBytes = sizeof(uint64_t);

constexpr uint64_t Bit(Field field) {
  return uint64_t{1} << field;
}

// Writes one record, whose payload has `payload` bytes, into *record. The string is resized once,
// for the whole record. The methods append fields; Finish must be called at the end.
class Encoder {
 public:
  Encoder(uint64_t micros, TraceType type, uint64_t payload, std::string* record)
      : record_(record), bytes_(kRecordHeadBytes + static_cast<size_t>(payload)) {
    // While a varint is written it may need the room of its longest form.
    record->resize(bytes_ + kMaxVarint32Length);
    at_ = record->data();
    Long(micros);
    *at_++ = type;
    Number(static_cast<uint32_t>(payload));
  }

  void Long(uint64_t value) {
    EncodeFixed64(at_, value);
    at_ += sizeof(value);
  }
  void Number(uint32_t value) {
    EncodeFixed32(at_, value);
    at_ += sizeof(value);
  }
  void Bytes(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  // Begins a text of `size` bytes, which follow in pieces.
  void TextOf(uint64_t size) { at_ = EncodeVarint32(at_, static_cast<uint32_t>(size)); }
  void Text(const Slice& text) {
    TextOf(text.size());
    Bytes({text.data(), text.size()});
  }

  void Finish() {
    VARVE_ASSERT(at_ == record_->data() + bytes_);
    record_->resize(bytes_);
  }

 private:
  std::string* const record_;
  const size_t bytes_;
  char* at_;
};

// Returns the bytes of a text of this size with its length.
uint64_t TextBytes(uint64_t size) {
  return VarintLength(size) + size;
}

// Returns OK if a record can have a payload of so many bytes.
Status CheckFits(uint64_t payload, const char* what) {
  if (payload <= std::numeric_limits<uint32_t>::max()) [[likely]]
    return Status::OK();
  return Status::InvalidArgument("trace: a record cannot hold " + std::string(what) + " of " +
                                 std::to_string(payload) + " bytes");
}

Status DamagedPayload(const RawRecord& raw) {
  return Status::Corruption("trace: the payload of a record of type " +
                            std::to_string(static_cast<int>(raw.type)) +
                            " does not have the fields that it must have");
}

// The decoded fields of a payload. `present` has the bits of those that it has.
struct Payload {
  uint64_t present = 0;
  std::array<uint32_t, kFieldsEnd> numbers{};
  std::array<Slice, kFieldsEnd> texts;
};

// Bits of the fields that are numbers; the others are texts.
constexpr uint64_t kNumbers = Bit(kGetFamily) | Bit(kSeekFamily) | Bit(kKeyCount);

// Reads the fields of `present`, in their order. Returns false if they do not fill the payload.
bool ReadFields(BoundedReader* in, uint64_t present, Payload* payload) {
  payload->present = present;
  // Fields that are not known have no known size.
  if ((present & ~(Bit(kFieldsEnd) - Bit(kBatch))) != 0) return false;
  for (uint8_t field = kBatch; field < kFieldsEnd; field++) {
    if ((present & Bit(static_cast<Field>(field))) == 0) continue;
    if ((kNumbers & Bit(static_cast<Field>(field))) != 0) {
      payload->numbers[field] = in->Fixed32();
    } else {
      payload->texts[field] = in->LengthPrefixed();
    }
  }
  return in->AtEnd();
}

// Reads the fields of a record. Returns false if they do not fill its payload. In version 0.1 there
// is no map: a record has all of the type's fields, which the caller gives.
bool ReadPayload(const RawRecord& raw, uint32_t minor, uint64_t fields_of_type, Payload* payload) {
  BoundedReader in(raw.payload);
  if (minor >= 2) return ReadFields(&in, in.Fixed64(), payload);
  if (raw.type != kTraceWrite) return ReadFields(&in, fields_of_type, payload);
  payload->present = fields_of_type;
  payload->texts[kBatch] = raw.payload;
  return true;
}

std::string Copy(const Slice& text) {
  return text.ToString();
}

// Makes the object of a MultiGet. Returns false unless each key has one family.
bool DecodeMultiGet(const Payload& payload, uint64_t micros, std::unique_ptr<TraceRecord>* record) {
  BoundedReader ids(payload.texts[kFamilies]);
  BoundedReader texts(payload.texts[kKeys]);
  std::vector<uint32_t> families;
  std::vector<std::string> keys;
  while (ids.remaining() > 0) families.push_back(ids.Fixed32());
  while (texts.remaining() > 0) keys.push_back(Copy(texts.LengthPrefixed()));
  if (!ids.AtEnd() || !texts.AtEnd()) return false;
  if (families.size() != payload.numbers[kKeyCount] || keys.size() != families.size()) return false;
  *record = std::make_unique<MultiGetQueryTraceRecord>(std::move(families), keys, micros);
  return true;
}

// Bits of the fields that a record of some type must have, and of those that it may have.
struct TypeFields {
  uint64_t required;
  uint64_t optional;
};

// Returns the fields of a type; none for a type that cannot be replayed.
TypeFields FieldsOf(TraceType type) {
  switch (type) {
    case kTraceWrite:
      return {Bit(kBatch), 0};
    case kTraceGet:
      return {Bit(kGetFamily) | Bit(kGetKey), 0};
    case kTraceIteratorSeek:
    case kTraceIteratorSeekForPrev:
      return {Bit(kSeekFamily) | Bit(kSeekKey), Bit(kLowerBound) | Bit(kUpperBound)};
    case kTraceMultiGet:
      return {Bit(kKeyCount) | Bit(kFamilies) | Bit(kKeys), 0};
    default:
      return {0, 0};
  }
}

}  // namespace

void EncodeBegin(uint64_t micros, std::string* record) {
  Encoder out(micros, kTraceBegin, kHeader.size(), record);
  out.Bytes(kHeader);
  out.Finish();
}

void EncodeEnd(uint64_t micros, std::string* record) {
  Encoder out(micros, kTraceEnd, 0, record);
  out.Finish();
}

Status EncodeGet(uint64_t micros, uint32_t family, const Slice& key, std::string* record) {
  const uint64_t payload = kMapBytes + sizeof(family) + TextBytes(key.size());
  VARVE_RETURN_IF_ERROR(CheckFits(payload, "a key"));
  Encoder out(micros, kTraceGet, payload, record);
  out.Long(Bit(kGetFamily) | Bit(kGetKey));
  out.Number(family);
  out.Text(key);
  out.Finish();
  return Status::OK();
}

Status EncodeSeek(uint64_t micros, TraceType type, uint32_t family, const Slice& target,
                  const Slice* lower, const Slice* upper, std::string* record) {
  const bool has_lower = lower != nullptr && !lower->empty();
  const bool has_upper = upper != nullptr && !upper->empty();
  const uint64_t payload = kMapBytes + sizeof(family) + TextBytes(target.size()) +
                           (has_lower ? TextBytes(lower->size()) : 0) +
                           (has_upper ? TextBytes(upper->size()) : 0);
  VARVE_RETURN_IF_ERROR(CheckFits(payload, "a key and bounds"));
  Encoder out(micros, type, payload, record);
  out.Long(Bit(kSeekFamily) | Bit(kSeekKey) | (has_lower ? Bit(kLowerBound) : 0) |
           (has_upper ? Bit(kUpperBound) : 0));
  out.Number(family);
  out.Text(target);
  if (has_lower) out.Text(*lower);
  if (has_upper) out.Text(*upper);
  out.Finish();
  return Status::OK();
}

Status EncodeMultiGet(uint64_t micros, std::span<const uint32_t> families, const Slice* keys,
                      std::string* record) {
  uint64_t key_bytes = 0;
  for (size_t i = 0; i < families.size(); i++) key_bytes += TextBytes(keys[i].size());
  const uint64_t id_bytes = families.size() * sizeof(uint32_t);
  const uint64_t payload =
      kMapBytes + sizeof(uint32_t) + TextBytes(id_bytes) + TextBytes(key_bytes);
  VARVE_RETURN_IF_ERROR(CheckFits(payload, "keys"));
  Encoder out(micros, kTraceMultiGet, payload, record);
  out.Long(Bit(kKeyCount) | Bit(kFamilies) | Bit(kKeys));
  out.Number(static_cast<uint32_t>(families.size()));
  out.TextOf(id_bytes);
  for (const uint32_t family : families) out.Number(family);
  out.TextOf(key_bytes);
  for (size_t i = 0; i < families.size(); i++) out.Text(keys[i]);
  out.Finish();
  return Status::OK();
}

Status EncodeWrite(uint64_t micros, uint32_t count, const Slice& first, const Slice& second,
                   std::string* record) {
  const uint64_t batch =
      sizeof(uint64_t) + sizeof(uint32_t) + uint64_t{first.size()} + second.size();
  const uint64_t payload = kMapBytes + TextBytes(batch);
  VARVE_RETURN_IF_ERROR(CheckFits(payload, "a batch"));
  Encoder out(micros, kTraceWrite, payload, record);
  out.Long(Bit(kBatch));
  out.TextOf(batch);
  out.Long(0);  // the sequence number of the batch
  out.Number(count);
  out.Bytes({first.data(), first.size()});
  out.Bytes({second.data(), second.size()});
  out.Finish();
  return Status::OK();
}

Status ParseRecord(const Slice& bytes, RawRecord* record) {
  BoundedReader in(bytes);
  record->micros = in.Fixed64();
  record->type = static_cast<TraceType>(in.U8());
  record->payload = in.Bytes(in.Fixed32());
  if (in.AtEnd()) return Status::OK();
  return Status::Corruption("trace: " + std::to_string(bytes.size()) + " bytes are not one record");
}

Status ParseHeader(const Slice& payload, uint32_t* minor) {
  const std::string_view text(payload.data(), payload.size());
  if (!text.starts_with(kMagic)) {
    return Status::Corruption("trace: the file does not begin with the header of a trace");
  }
  const size_t word = text.find(kVersionWord);
  const std::string_view version =
      word == std::string_view::npos ? "" : text.substr(word + kVersionWord.size());
  const std::string_view number = version.substr(0, version.find('\t'));
  if (number != "0.1" && number != "0.2") {
    return Status::NotSupported("trace: the file is of version " +
                                Slice(number.substr(0, 20)).ToString() +
                                "; versions 0.1 and 0.2 are read");
  }
  *minor = number == "0.1" ? 1 : 2;
  return Status::OK();
}

Status DecodeRecord(const RawRecord& raw, uint32_t minor, std::unique_ptr<TraceRecord>* record) {
  record->reset();
  const TypeFields fields = FieldsOf(raw.type);
  if (fields.required == 0) {
    return Status::NotSupported("trace: records of type " +
                                std::to_string(static_cast<int>(raw.type)) + " cannot be replayed");
  }
  Payload payload;
  if (!ReadPayload(raw, minor, fields.required, &payload)) return DamagedPayload(raw);
  if ((payload.present & fields.required) != fields.required ||
      (payload.present & ~(fields.required | fields.optional)) != 0) {
    return DamagedPayload(raw);
  }
  switch (raw.type) {
    case kTraceWrite:
      *record = std::make_unique<WriteQueryTraceRecord>(Copy(payload.texts[kBatch]), raw.micros);
      break;
    case kTraceGet:
      *record = std::make_unique<GetQueryTraceRecord>(payload.numbers[kGetFamily],
                                                      Copy(payload.texts[kGetKey]), raw.micros);
      break;
    case kTraceMultiGet:
      if (!DecodeMultiGet(payload, raw.micros, record)) return DamagedPayload(raw);
      break;
    default:  // one of the two seeks: FieldsOf knows no other type, and SeekType has their numbers
      *record = std::make_unique<IteratorSeekQueryTraceRecord>(
          static_cast<IteratorSeekQueryTraceRecord::SeekType>(raw.type),
          payload.numbers[kSeekFamily], Copy(payload.texts[kSeekKey]),
          Copy(payload.texts[kLowerBound]), Copy(payload.texts[kUpperBound]), raw.micros);
  }
  return Status::OK();
}

}  // namespace varve::trace
