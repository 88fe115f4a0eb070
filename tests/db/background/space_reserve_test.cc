// SPDX-License-Identifier: Apache-2.0

// Goal: space that was held lets a database on a full disk finish what is under way, is held again
// when there is room, and is gone with the database. Method: a file system with a capacity, in
// which deleting gives space back.

#include "db/background/space_reserve.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

// Counts the bytes that were appended to files that are still there.
class SmallDisk final : public FileSystemWrapper {
 public:
  explicit SmallDisk(std::shared_ptr<FileSystem> target) : FileSystemWrapper(std::move(target)) {}
  const char* Name() const override { return "SmallDisk"; }

  std::atomic<int64_t> free_bytes{INT64_MAX / 4};

  class File final : public FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSWritableFile> file, SmallDisk* disk)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      const auto n = static_cast<int64_t>(data.size());
      if (disk_->free_bytes.fetch_sub(n) < n) {
        disk_->free_bytes.fetch_add(n);
        return IOStatus::NoSpace("the small disk is full");
      }
      return FSWritableFileOwnerWrapper::Append(data, options, dbg);
    }

   private:
    SmallDisk* const disk_;
  };

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    std::unique_ptr<FSWritableFile> file;
    IOStatus s = FileSystemWrapper::NewWritableFile(f, options, &file, dbg);
    if (s.ok()) *r = std::make_unique<File>(std::move(file), this);
    return s;
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    uint64_t bytes = 0;
    FileSystemWrapper::GetFileSize(f, options, &bytes, dbg).PermitUncheckedError();
    IOStatus s = FileSystemWrapper::DeleteFile(f, options, dbg);
    if (s.ok()) free_bytes.fetch_add(static_cast<int64_t>(bytes));
    return s;
  }
  IOStatus GetFreeSpace(const std::string&, const IOOptions&, uint64_t* bytes,
                        IODebugContext*) override {
    *bytes = static_cast<uint64_t>(std::max<int64_t>(free_bytes.load(), 0));
    return IOStatus::OK();
  }
};

class SpaceReserveTest : public Database {
 protected:
  static constexpr uint64_t kReserve = 512 << 10;

  SpaceReserveTest() {
    disk_ = std::make_shared<SmallDisk>(std::make_shared<MemFileSystem>());
    env_ = NewCompositeEnv(disk_);
    options_.env = env_.get();
    options_.write_buffer_size = 64 << 10;
    options_.disable_auto_compactions = true;
    options_.level0_slowdown_writes_trigger = 1000;
    options_.level0_stop_writes_trigger = 1000;
    options_.reserve_bytes = kReserve;
  }
  ~SpaceReserveTest() override { Close().PermitUncheckedError(); }

  bool HasReserve() {
    uint64_t bytes = 0;
    return disk_
               ->GetFileSize(std::string(kName) + "/" + kReserveFileName, IOOptions(), &bytes,
                             nullptr)
               .ok() &&
           bytes == kReserve;
  }
  Status PutOne(int i) {
    Status s = db()->Put(WriteOptions(), std::to_string(100000 + i), std::string(1000, 'v'));
    if (s.ok()) stored_.push_back(i);
    return s;
  }
  // Writes until the disk is full.
  void Fill() {
    disk_->free_bytes = 1 << 20;
    Status s;
    for (int i = 0; i < 5000 && s.ok(); i++) s = PutOne(next_++);
    ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
  }
  void ExpectAllStored() {
    for (int i : stored_) ASSERT_NE(Get(std::to_string(100000 + i)), "NOT_FOUND") << i;
  }

  std::shared_ptr<SmallDisk> disk_;
  std::unique_ptr<Env> env_;
  std::vector<int> stored_;
  int next_ = 0;
};

TEST_F(SpaceReserveTest, LetsAFullDatabaseFinishAndIsTakenAgain) {
  Open();
  EXPECT_TRUE(HasReserve());
  Fill();
  EXPECT_TRUE(Eventually([&] { return !HasReserve(); }));
  EXPECT_TRUE(Eventually([&] { return PutOne(next_++).ok(); }))
      << "what was held is room enough for what was under way: " << Text("varve.background-error");
  EXPECT_FALSE(HasReserve()) << "there is no room for it yet";
  disk_->free_bytes = INT64_MAX / 4;
  EXPECT_TRUE(Eventually([&] { return PutOne(next_++).ok() && db()->Flush(FlushOptions()).ok(); }));
  EXPECT_TRUE(Eventually([&] { return HasReserve(); }));
  ExpectAllStored();
  Reopen();
  ExpectAllStored();
  EXPECT_TRUE(HasReserve());
}

TEST_F(SpaceReserveTest, GoesWithTheDatabaseOrTheOption) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(HasReserve()) << "a closed database keeps its space";
  options_.reserve_bytes = 0;
  Open();
  EXPECT_FALSE(HasReserve());
  options_.reserve_bytes = kReserve;
  Reopen();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_TRUE(disk_->FileExists(kName, IOOptions(), nullptr).IsNotFound());
}

}  // namespace
}  // namespace varve::testing
