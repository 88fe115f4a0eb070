// SPDX-License-Identifier: Apache-2.0
// Implements C++ classes that call into C: comparators, compaction filters, prefixes, merge
// operators.
//
//       C object   handle --owns--> C++ object --holds--> State { state, destructor, name }
//
// The caller's destructor runs when the last C++ object that needs the state is gone, which may be
// long after the handle: a database, its iterators and running compactions hold the objects.
// Callbacks may be called by several threads at once.
#include <cstdlib>
#include <deque>
#include <limits>

#include "varve/convenience.h"
#include "varve/utilities/merge_operators.h"

#include "db/api/c/c_types.h"

using varve::CompactionFilter;
using varve::CompactionFilterFactory;
using varve::Comparator;
using varve::MergeOperator;
using varve::Slice;
using varve::SliceTransform;
using varve::c::Try;

namespace {

using Destructor = void (*)(void*);
using NameFunction = const char* (*)(void*);

// Holds the caller's state and its destructor, which runs with the last object that holds it.
class State {
 public:
  State(void* state, Destructor destructor, NameFunction name)
      : state_(state), destructor_(destructor), name_(name) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (destructor_ != nullptr) destructor_(state_);
  }

  void* get() const { return state_; }
  const char* Name() const { return name_ == nullptr ? "" : name_(state_); }

 private:
  void* const state_;
  const Destructor destructor_;
  const NameFunction name_;
};

using CompareFunction = int (*)(void*, const char*, size_t, const char*, size_t);
using CompareWithoutTsFunction = int (*)(void*, const char*, size_t, unsigned char, const char*,
                                         size_t, unsigned char);

// Keys are not shortened: C has no callback for that.
class CallbackComparator final : public Comparator {
 public:
  CallbackComparator(void* state, Destructor destructor, CompareFunction compare, NameFunction name)
      : state_(state, destructor, name), compare_(compare) {}
  CallbackComparator(void* state, Destructor destructor, CompareFunction compare,
                     CompareFunction compare_ts, CompareWithoutTsFunction compare_without_ts,
                     NameFunction name, size_t timestamp_size)
      : Comparator(timestamp_size),
        state_(state, destructor, name),
        compare_(compare),
        compare_ts_(compare_ts),
        compare_without_ts_(compare_without_ts) {}

  using Comparator::CompareWithoutTimestamp;

  const char* Name() const override { return state_.Name(); }
  int Compare(const Slice& a, const Slice& b) const override {
    return compare_(state_.get(), a.data(), a.size(), b.data(), b.size());
  }
  // Without timestamps the two further callbacks are null: all timestamps are empty and equal.
  int CompareTimestamp(const Slice& a, const Slice& b) const override {
    if (compare_ts_ == nullptr) return 0;
    return compare_ts_(state_.get(), a.data(), a.size(), b.data(), b.size());
  }
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    if (compare_without_ts_ == nullptr) return Compare(a, b);
    return compare_without_ts_(state_.get(), a.data(), a.size(), a_has_ts ? 1 : 0, b.data(),
                               b.size(), b_has_ts ? 1 : 0);
  }
  Slice GetMaxTimestamp() const override { return max_timestamp_; }
  Slice GetMinTimestamp() const override { return min_timestamp_; }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  const State state_;
  const CompareFunction compare_;
  const CompareFunction compare_ts_ = nullptr;
  const CompareWithoutTsFunction compare_without_ts_ = nullptr;
  // The largest unsigned number, whatever the order of its bytes.
  const std::string max_timestamp_ = std::string(timestamp_size(), '\xff');
  const std::string min_timestamp_ = std::string(timestamp_size(), '\0');
};

using FilterFunction = unsigned char (*)(void*, int, const char*, size_t, const char*, size_t,
                                         char**, size_t*, unsigned char*);

// A compaction filter that calls a C function; its copies share the state.
class CallbackCompactionFilter final : public CompactionFilter {
 public:
  CallbackCompactionFilter(void* state, Destructor destructor, FilterFunction filter,
                           NameFunction name)
      : state_(std::make_shared<const State>(state, destructor, name)), filter_(filter) {}

  // Returns another filter of the same state.
  std::unique_ptr<CallbackCompactionFilter> Copy() const {
    return std::make_unique<CallbackCompactionFilter>(*this);
  }

  const char* Name() const override { return state_->Name(); }
  bool Filter(int level, const Slice& key, const Slice& existing_value, std::string* new_value,
              bool* value_changed) const override {
    char* bytes = nullptr;  // The callback owns them until its next call.
    size_t size = 0;
    unsigned char changed = 0;
    const unsigned char remove =
        filter_(state_->get(), level, key.data(), key.size(), existing_value.data(),
                existing_value.size(), &bytes, &size, &changed);
    if (changed != 0 && bytes != nullptr) new_value->assign(bytes, size);
    // A changed value without an address is an empty one.
    if (changed != 0 && bytes == nullptr) new_value->clear();
    *value_changed = changed != 0;
    return remove != 0;
  }
  bool IgnoreSnapshots() const override { return ignore_snapshots_; }

  bool* ignore_snapshots() { return &ignore_snapshots_; }

 private:
  const std::shared_ptr<const State> state_;
  const FilterFunction filter_;
  bool ignore_snapshots_ = true;
};

using CreateFilterFunction = rocksdb_compactionfilter_t* (*)(void*,
                                                             rocksdb_compactionfiltercontext_t*);

// A factory that calls a C function to make filters.
class CallbackFilterFactory final : public CompactionFilterFactory {
 public:
  CallbackFilterFactory(void* state, Destructor destructor, CreateFilterFunction create,
                        NameFunction name)
      : state_(state, destructor, name), create_(create) {}

  const char* Name() const override { return state_.Name(); }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    rocksdb_compactionfiltercontext_t view = {&context};
    // The factory's callback gives its handle away, which is destroyed here. So the filter that is
    // returned is a copy, which shares the state.
    const std::unique_ptr<rocksdb_compactionfilter_t> filter(create_(state_.get(), &view));
    if (filter == nullptr) return nullptr;
    // C programs can make no other kind.
    return static_cast<const CallbackCompactionFilter&>(*filter->rep).Copy();
  }

 private:
  const State state_;
  const CreateFilterFunction create_;
};

using TransformFunction = char* (*)(void*, const char*, size_t, size_t*);
using InDomainFunction = unsigned char (*)(void*, const char*, size_t);

// A prefix extractor that calls C functions.
class CallbackTransform final : public SliceTransform {
 public:
  CallbackTransform(void* state, Destructor destructor, TransformFunction transform,
                    InDomainFunction in_domain, NameFunction name)
      : state_(state, destructor, name), transform_(transform), in_domain_(in_domain) {}

  const char* Name() const override { return state_.Name(); }
  Slice Transform(const Slice& key) const override {
    size_t size = 0;
    const char* prefix = transform_(state_.get(), key.data(), key.size(), &size);
    return Slice(prefix, size);
  }
  bool InDomain(const Slice& key) const override {
    return in_domain_(state_.get(), key.data(), key.size()) != 0;
  }

 private:
  const State state_;
  const TransformFunction transform_;
  const InDomainFunction in_domain_;
};

using FullMergeFunction = char* (*)(void*, const char*, size_t, const char*, size_t,
                                    const char* const*, const size_t*, int, unsigned char*,
                                    size_t*);
using PartialMergeFunction = char* (*)(void*, const char*, size_t, const char* const*,
                                       const size_t*, int, unsigned char*, size_t*);
using DeleteValueFunction = void (*)(void*, const char*, size_t);

// Holds operands as C gets them.
class OperandArrays {
 public:
  template <typename Operands>
  explicit OperandArrays(const Operands& operands) {
    bytes_.reserve(operands.size());
    sizes_.reserve(operands.size());
    for (const Slice& operand : operands) {
      bytes_.push_back(operand.data());
      sizes_.push_back(operand.size());
    }
  }

  bool can_be_counted() const { return bytes_.size() <= std::numeric_limits<int>::max(); }
  const char* const* bytes() const { return bytes_.data(); }
  const size_t* sizes() const { return sizes_.data(); }
  int count() const { return static_cast<int>(bytes_.size()); }

 private:
  std::vector<const char*> bytes_;
  std::vector<size_t> sizes_;
};

// A merge operator that calls C functions.
class CallbackMergeOperator final : public MergeOperator {
 public:
  CallbackMergeOperator(void* state, Destructor destructor, FullMergeFunction full_merge,
                        PartialMergeFunction partial_merge, DeleteValueFunction delete_value,
                        NameFunction name)
      : state_(state, destructor, name),
        full_merge_(full_merge),
        partial_merge_(partial_merge),
        delete_value_(delete_value) {}

  const char* Name() const override { return state_.Name(); }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    const OperandArrays operands(in.operand_list);
    if (!operands.can_be_counted()) return false;
    // An empty base has an address; a missing one has none.
    Slice base(nullptr, 0);
    if (in.existing_value != nullptr) {
      base = in.existing_value->empty() ? Slice() : *in.existing_value;
    }
    unsigned char success = 0;
    size_t size = 0;
    char* const merged =
        full_merge_(state_.get(), in.key.data(), in.key.size(), base.data(), base.size(),
                    operands.bytes(), operands.sizes(), operands.count(), &success, &size);
    return Take(merged, size, success, &out->new_value);
  }

  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, varve::Logger* /*logger*/) const override {
    if (partial_merge_ == nullptr) return false;
    const OperandArrays operands(operand_list);
    if (!operands.can_be_counted()) return false;
    unsigned char success = 0;
    size_t size = 0;
    char* const merged = partial_merge_(state_.get(), key.data(), key.size(), operands.bytes(),
                                        operands.sizes(), operands.count(), &success, &size);
    // Null is no result here, as an empty one would replace the operands for good.
    if (merged == nullptr) success = 0;
    return Take(merged, size, success, new_value);
  }

 private:
  // Copies a callback's result, and gives it back to the callbacks' owner.
  bool Take(char* merged, size_t size, unsigned char success, std::string* new_value) const {
    const bool made = success != 0 && (merged != nullptr || size == 0);
    if (made && merged == nullptr) new_value->clear();
    if (made && merged != nullptr) new_value->assign(merged, size);
    // Without a callback for it, the result was made by malloc.
    if (delete_value_ != nullptr) {
      delete_value_(state_.get(), merged, size);
    } else {
      std::free(merged);
    }
    return made;
  }

  const State state_;
  const FullMergeFunction full_merge_;
  const PartialMergeFunction partial_merge_;
  const DeleteValueFunction delete_value_;
};

template <typename Handle, typename Object>
Handle* Wrap(std::unique_ptr<Object> object) {
  return new Handle{varve::c::Given<Handle, Object>(std::move(object))};
}

}  // namespace

rocksdb_comparator_t* rocksdb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t alen,
                                                               const char* b, size_t blen),
                                                const char* (*name)(void*)) {
  if (compare == nullptr || name == nullptr) return nullptr;
  return Try([&] {
    return new rocksdb_comparator_t{
        std::make_shared<CallbackComparator>(state, destructor, compare, name)};
  });
}

rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    int (*compare_ts)(void*, const char* a_ts, size_t a_tslen, const char* b_ts, size_t b_tslen),
    int (*compare_without_ts)(void*, const char* a, size_t alen, unsigned char a_has_ts,
                              const char* b, size_t blen, unsigned char b_has_ts),
    const char* (*name)(void*), size_t timestamp_size) {
  if (compare == nullptr || name == nullptr) return nullptr;
  const bool needs_more = compare_ts == nullptr || compare_without_ts == nullptr;
  if (timestamp_size != 0 && needs_more) return nullptr;
  return Try([&] {
    return new rocksdb_comparator_t{std::make_shared<CallbackComparator>(
        state, destructor, compare, compare_ts, compare_without_ts, name, timestamp_size)};
  });
}

rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length,
                            const char* existing_value, size_t value_length, char** new_value,
                            size_t* new_value_length, unsigned char* value_changed),
    const char* (*name)(void*)) {
  if (filter == nullptr || name == nullptr)
    return varve::c::CouldNotMake<rocksdb_compactionfilter_t>();
  return Try([&] {
    auto rep = std::make_shared<CallbackCompactionFilter>(state, destructor, filter, name);
    bool* const ignore_snapshots = rep->ignore_snapshots();
    return new rocksdb_compactionfilter_t{std::move(rep), ignore_snapshots};
  });
}

void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter,
                                                   unsigned char ignore) {
  if (filter != nullptr) *filter->ignore_snapshots = ignore != 0;
}

unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context) {
  return context != nullptr && context->rep->is_full_compaction ? 1 : 0;
}

unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context) {
  return context != nullptr && context->rep->is_manual_compaction ? 1 : 0;
}

rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(
        void*, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void*)) {
  if (create_compaction_filter == nullptr || name == nullptr)
    return varve::c::CouldNotMake<rocksdb_compactionfilterfactory_t>();
  return Try([&] {
    return Wrap<rocksdb_compactionfilterfactory_t, CompactionFilterFactory>(
        std::make_unique<CallbackFilterFactory>(state, destructor, create_compaction_filter, name));
  });
}

void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory) {
  if (factory != nullptr) factory->rep.Destroy(factory);
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (*name)(void*)) {
  if (transform == nullptr || in_domain == nullptr || name == nullptr)
    return varve::c::CouldNotMake<rocksdb_slicetransform_t>();
  return Try([&] {
    return Wrap<rocksdb_slicetransform_t, const SliceTransform>(
        std::make_unique<CallbackTransform>(state, destructor, transform, in_domain, name));
  });
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t prefix_len) {
  return Try([&] {
    return Wrap<rocksdb_slicetransform_t, const SliceTransform>(
        std::unique_ptr<const SliceTransform>(varve::NewFixedPrefixTransform(prefix_len)));
  });
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop() {
  return Try([] {
    return Wrap<rocksdb_slicetransform_t, const SliceTransform>(
        std::unique_ptr<const SliceTransform>(varve::NewNoopTransform()));
  });
}

void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) {
  if (transform != nullptr) transform->rep.Destroy(transform);
}

rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (*full_merge)(void*, const char* key, size_t key_length, const char* existing_value,
                        size_t existing_value_length, const char* const* operands_list,
                        const size_t* operands_list_length, int num_operands,
                        unsigned char* success, size_t* new_value_length),
    char* (*partial_merge)(void*, const char* key, size_t key_length,
                           const char* const* operands_list, const size_t* operands_list_length,
                           int num_operands, unsigned char* success, size_t* new_value_length),
    void (*delete_value)(void*, const char* value, size_t value_length),
    const char* (*name)(void*)) {
  if (full_merge == nullptr || name == nullptr)
    return varve::c::CouldNotMake<rocksdb_mergeoperator_t>();
  return Try([&] {
    return Wrap<rocksdb_mergeoperator_t, MergeOperator>(std::make_unique<CallbackMergeOperator>(
        state, destructor, full_merge, partial_merge, delete_value, name));
  });
}

void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator) {
  if (merge_operator != nullptr) merge_operator->rep.Destroy(merge_operator);
}

void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options) {
  if (options == nullptr) return;
  varve::c::TryVoid(
      [&] { options->rep.merge_operator = varve::MergeOperators::CreateUInt64AddOperator(); });
}

void rocksdb_options_set_merge_operator_from_string(rocksdb_options_t* options, const char* text,
                                                    char** errptr) {
  varve::c::Run(errptr, [&]() -> varve::Status {
    if (options == nullptr || text == nullptr) return varve::c::NullArgument("options or text");
    return MergeOperator::CreateFromString(varve::ConfigOptions(), text,
                                           &options->rep.merge_operator);
  });
}
