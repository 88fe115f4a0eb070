// SPDX-License-Identifier: Apache-2.0

// Encoding sorts the columns if they are not sorted, measures first, and then appends to memory
// that was reserved in full, so that an error or a lack of memory leaves the target as it was.
// Decoding is one pass over the index, which checks everything before any value is used: sizes are
// added up and compared with the bytes that are there.

#include "util/key/entity.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/varint.h"
#include "util/key/entry_limits.h"

namespace varve {

namespace {

constexpr uint32_t kVersion = 1;
// A column takes at least the lengths of its name and of its value.
constexpr size_t kColumnBytesMin = 2;

bool HasSmallerName(const WideColumn& a, const WideColumn& b) {
  return a.name().compare(b.name()) < 0;
}

// Goes once over an entity's index: the number of columns, their names and the sizes of values.
class IndexPass {
 public:
  explicit IndexPass(const Slice& entity)
      : begin_(entity.data()), at_(entity.data()), end_(entity.data() + entity.size()) {}

  // Gets the number of columns, which the entity's size bounds.
  Status Start(uint32_t* columns) {
    uint32_t version = 0;
    if (!TakeNumber(&version)) return Bad("the version is cut off");
    if (version == 0) return Bad("the version is 0");
    if (version > kVersion) {
      return Status::NotSupported("wide columns: an entity of version " + std::to_string(version) +
                                  ", and this program reads version 1");
    }
    if (!TakeNumber(columns)) return Bad("the number of columns is cut off");
    if (*columns > Left() / kColumnBytesMin) return Bad("there are fewer columns than it counts");
    return Status::OK();
  }

  // Calls visit(name, size of the value) for each column. Sets *values to the first byte after the
  // index.
  template <typename Visit>
  Status Run(uint32_t columns, const Visit& visit, const char** values) {
    // The sum of up to 2^32 sizes of 32 bits fits into 64 bits, so a hostile index cannot make it
    // wrap.
    uint64_t value_bytes = 0;
    Slice last;
    for (uint32_t i = 0; i < columns; i++) {
      uint32_t name_bytes = 0;
      if (!TakeNumber(&name_bytes)) return Bad("the length of a name is cut off");
      if (name_bytes > Left()) return Bad("a name is cut off");
      const Slice name(at_, name_bytes);
      if (i != 0 && name.compare(last) <= 0) return Bad("names do not ascend");
      last = name;
      at_ += name_bytes;
      uint32_t size = 0;
      if (!TakeNumber(&size)) return Bad("the length of a value is cut off");
      visit(name, size);
      value_bytes += size;
    }
    if (value_bytes > Left()) return Bad("the values are cut off");
    if (value_bytes < Left()) return Bad("there are bytes after the values");
    *values = at_;
    return Status::OK();
  }

 private:
  // Returns the number of bytes that have not been passed.
  [[nodiscard]] size_t Left() const { return static_cast<size_t>(end_ - at_); }

  // Reads a varint32 and moves behind it. Returns false if it is cut off or too long.
  bool TakeNumber(uint32_t* number) {
    const char* const next = GetVarint32Ptr(at_, end_, number);
    if (next == nullptr) return false;
    at_ = next;
    return true;
  }

  [[nodiscard]] Status Bad(const char* what) const {
    return Status::Corruption(
        "wide columns: an ill-formed entity of " + std::to_string(end_ - begin_) + " bytes",
        std::string(what) + ", at byte " + std::to_string(at_ - begin_));
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
};

template <typename Visit>
Status PassOver(const Slice& entity, const Visit& visit, const char** values) {
  IndexPass pass(entity);
  uint32_t columns = 0;
  VARVE_RETURN_IF_ERROR(pass.Start(&columns));
  return pass.Run(columns, visit, values);
}

// Appends the entity of columns that ascend; `bytes` is its size. Nothing can fail after the
// reservation.
void AppendSorted(const WideColumns& columns, size_t bytes, std::string* entity) {
  const size_t before = entity->size();
  entity->reserve(before + bytes);
  PutVarint32(entity, kVersion);
  PutVarint32(entity, static_cast<uint32_t>(columns.size()));
  for (const WideColumn& column : columns) {
    PutLengthPrefixedSlice(entity, column.name());
    PutVarint32(entity, static_cast<uint32_t>(column.value().size()));
  }
  for (const WideColumn& column : columns) {
    entity->append(column.value().data(), column.value().size());
  }
  VARVE_ASSERT(entity->size() == before + bytes);
}

// Gets the bytes of the entity of columns that ascend.
Status MeasureSorted(const WideColumns& columns, size_t* bytes) {
  *bytes = VarintLength(kVersion) + VarintLength(columns.size());
  for (size_t i = 0; i < columns.size(); i++) {
    const Slice& name = columns[i].name();
    const Slice& value = columns[i].value();
    if (i != 0 && columns[i - 1].name() == name) {
      return Status::Corruption("Wide columns out of order",
                                "two have the name \"" + name.ToString() + "\"");
    }
    if (!FitsAWrite(name.size(), value.size())) {
      return Status::InvalidArgument("wide columns: a column is too large: of nearly 4 GiB");
    }
    *bytes += VarintLength(name.size()) + name.size() + VarintLength(value.size()) + value.size();
    // Checked at each column, so that the sum of hostile sizes cannot wrap.
    if (!FitsAWrite(0, *bytes)) {
      return Status::InvalidArgument("wide columns: an entity is too large: of nearly 4 GiB");
    }
  }
  return Status::OK();
}

}  // namespace

Status EncodeEntity(const WideColumns& columns, std::string* entity) {
  size_t bytes = 0;
  if (std::ranges::is_sorted(columns, HasSmallerName)) {
    VARVE_RETURN_IF_ERROR(MeasureSorted(columns, &bytes));
    AppendSorted(columns, bytes, entity);
    return Status::OK();
  }
  WideColumns sorted = columns;
  std::ranges::sort(sorted, HasSmallerName);
  VARVE_RETURN_IF_ERROR(MeasureSorted(sorted, &bytes));
  AppendSorted(sorted, bytes, entity);
  return Status::OK();
}

Status DecodeEntity(const Slice& entity, WideColumns* columns) {
  columns->clear();
  IndexPass pass(entity);
  uint32_t n = 0;
  VARVE_RETURN_IF_ERROR(pass.Start(&n));
  columns->reserve(n);  // IndexPass::Start has bounded n by the entity's size.
  const auto add = [columns](const Slice& name, uint32_t size) {
    // The sizes are known before the place of the values is, so the slices first get only their
    // sizes.
    columns->emplace_back(name, Slice("", size));
  };
  const char* at = nullptr;
  VARVE_RETURN_IF_ERROR(pass.Run(n, add, &at));
  // The pass has proved that the sizes add up, so no slice goes beyond the end.
  for (WideColumn& column : *columns) {
    column.value().data_ = at;
    at += column.value().size();
  }
  return Status::OK();
}

Status FindColumn(const Slice& entity, const Slice& name, Slice* value, bool* found) {
  uint64_t before = 0;  // bytes of the values before it
  uint32_t bytes = 0;
  *found = false;
  const auto look = [&](const Slice& present, uint32_t size) {
    // The pass goes on to the end, because the index is to be checked as a whole.
    if (*found) return;
    *found = present == name;
    if (*found) {
      bytes = size;
    } else {
      before += size;
    }
  };
  const char* values = nullptr;
  VARVE_RETURN_IF_ERROR(PassOver(entity, look, &values));
  *value = *found ? Slice(values + before, bytes) : Slice();
  return Status::OK();
}

Status DefaultColumnOf(const Slice& entity, Slice* value) {
  bool found = false;
  return FindColumn(entity, kDefaultWideColumnName, value, &found);
}

Status CheckEntity(const Slice& entity) {
  const char* values = nullptr;
  return PassOver(
      entity, [](const Slice& /*name*/, uint32_t /*size*/) {}, &values);
}

}  // namespace varve
