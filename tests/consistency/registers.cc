// SPDX-License-Identifier: Apache-2.0

// Each writer counts its own registers up and notes a number before it writes it, and again after
// the write returned. A reading that began after a number was noted as written must find it or a
// later one, and no number that was not noted as begun. Some numbers are written as deletions.

#include <array>
#include <cstdio>

#include "tests/consistency/checker.h"

namespace varve::testing {

namespace {

constexpr size_t kRegisters = 8;  // registers of each writer
constexpr size_t kTogether = 4;   // read by one MultiGet
constexpr size_t kRegisterPadding = 200;

class RegisterChecker final : public Checker {
 public:
  RegisterChecker(Store* store, size_t writers)
      : Checker(store, "register"), registers_(writers * kRegisters) {}

  void Prepare(Random*) override {}

  void WriteOnce(size_t thread, Random* random) override {
    const size_t index = thread * kRegisters + random->Below(kRegisters);
    Register& reg = registers_[index];
    const uint64_t n = reg.begun.load(std::memory_order_relaxed) + 1;
    reg.begun.store(n, std::memory_order_release);
    WriteBatch batch;
    store()->findings()->Expect(Fill(&batch, index, n, random), "filling a batch");
    store()->Write(&batch, random);
    reg.written.store(n, std::memory_order_release);
    Judge(index, n, store()->Get(CellOf(index), nullptr), "its writer's Get");
    CountWrite();
  }

  void ReadOnce(size_t, Random* random) override {
    std::array<size_t, kTogether> indexes;
    std::array<uint64_t, kTogether> least;
    const uint64_t way = random->Below(4);
    const size_t count = way == 0 ? kTogether : 1;
    std::vector<Cell> cells;
    for (size_t i = 0; i < count; i++) {
      indexes[i] = random->Below(registers_.size());
      cells.push_back(CellOf(indexes[i]));
      least[i] = registers_[indexes[i]].written.load(std::memory_order_acquire);
    }
    std::vector<Content> contents;
    if (way == 0) {
      contents = store()->MultiGet(cells, nullptr);
    } else if (way == 1) {
      contents = {ByIterator(cells[0], nullptr)};
    } else if (way == 2) {
      const Snapshot* const snapshot = store()->Take();
      contents = {store()->Get(cells[0], snapshot)};
      store()->Release(snapshot);
    } else {
      contents = {store()->Get(cells[0], nullptr)};
    }
    static constexpr const char* kWays[] = {"a MultiGet", "an iterator", "a snapshot", "a Get"};
    for (size_t i = 0; i < count; i++) Judge(indexes[i], least[i], contents[i], kWays[way]);
    CountRead();
  }

 private:
  // Holds the numbers of one writer. A thread that acquires `written` sees that the write returned.
  struct Register {
    std::atomic<uint64_t> begun{0};
    std::atomic<uint64_t> written{0};
  };

  static bool IsDeletion(uint64_t n) { return n % 8 == 0 || n % 8 == 5; }

  static Cell CellOf(size_t index) {
    char key[32];
    snprintf(key, sizeof(key), "register/%04zu", index);
    return Cell{index % Store::kFamilies, key};
  }

  Status Fill(WriteBatch* batch, size_t index, uint64_t n, Random* random) {
    const Cell cell = CellOf(index);
    ColumnFamilyHandle* const handle = store()->family(cell.family);
    if (n % 8 == 0) return batch->Delete(handle, cell.key);
    if (n % 8 == 5) return batch->DeleteRange(handle, cell.key, cell.key + "~");
    return batch->Put(handle, cell.key,
                      std::to_string(n) + " " + random->Text(random->Below(kRegisterPadding)));
  }

  Content ByIterator(const Cell& cell, const Snapshot* snapshot) {
    Content content;
    store()->Scan({{cell.family}, cell.key, cell.key + "~"}, snapshot, Direction::kForward,
                  [&](size_t, const Slice&, const Slice& value) { content = value.ToString(); });
    return content;
  }

  void Judge(size_t index, uint64_t least, const Content& content, const char* way) {
    const uint64_t most = registers_[index].begun.load(std::memory_order_acquire);
    if (content.has_value()) {
      const uint64_t n = strtoull(content->c_str(), nullptr, 10);
      if (n >= least && n <= most && !IsDeletion(n)) return;
    } else {
      for (uint64_t n = least; n <= most; n++) {
        if (IsDeletion(n)) return;  // 0, from before the first write, too
      }
    }
    Wrong(std::string(way) + " of register " + std::to_string(index) + " found " +
          content.value_or("nothing").substr(0, 20) + ", written are " + std::to_string(least) +
          " to " + std::to_string(most));
  }

  std::vector<Register> registers_;
};

}  // namespace

std::unique_ptr<Checker> NewRegisterChecker(Store* store, size_t writer_threads) {
  return std::make_unique<RegisterChecker>(store, writer_threads);
}

}  // namespace varve::testing
