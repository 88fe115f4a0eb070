// SPDX-License-Identifier: Apache-2.0
#pragma once

// ObjectRegistry: makes objects of the program's own classes from their names, so that options text
// and OPTIONS files may name them.
//
//   ObjectLibrary::Default()->AddFactory<MergeOperator>(
//       "counters", [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
//         guard->reset(new Counters());
//         return guard->get();
//       });
//
// From then on "merge_operator=counters" is understood. Names that were registered come before the
// built-in ones. They are asked for comparators and compaction filters, which have to live for
// ever; for merge operators, prefix extractors, filter policies, statistics, and the factories of
// compaction filters, partitioners and checksums, which have to have an owner.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class Logger;
class ObjectLibrary;

// Makes the object that `id` names. The caller owns it if it is in *guard; otherwise it lives for
// ever. nullptr, with the reason in *errmsg: it cannot be made. Called without a lock; may throw.
template <typename T>
using FactoryFunc =
    std::function<T*(const std::string& id, std::unique_ptr<T>* guard, std::string* errmsg)>;

// Adds factories to a library; answers how many.
using RegistrarFunc = std::function<int(ObjectLibrary& library, const std::string& arg)>;

// Factories by the class they make, T::Type(), and by the names they know. What makes constant
// objects (AddFactory<const Comparator>) is found by who asks for such.
//
// Thread safety: all methods from any thread. They throw nothing but std::bad_alloc.
class VARVE_EXPORT ObjectLibrary {
 public:
  // Which names a factory knows.
  class VARVE_EXPORT Entry {
   public:
    virtual ~Entry() = default;
    virtual bool Matches(const std::string& target) const = 0;
    virtual const char* Name() const = 0;
  };

  // A name, or one of several, and parts that follow it in this order.
  class VARVE_EXPORT PatternEntry final : public Entry {
   public:
    // `optional`: the name alone will do as well.
    explicit PatternEntry(const std::string& name, bool optional = true);
    // The name, or as an object of that name calls itself: name@address#process.
    static PatternEntry AsIndividualId(const std::string& name);

    PatternEntry& SetOptional(bool optional);
    PatternEntry& AnotherName(const std::string& alternative);
    // `separator`, then any text; `at_least_one`: at least one byte of it.
    PatternEntry& AddSeparator(const std::string& separator, bool at_least_one = true);
    // This text.
    PatternEntry& AddSuffix(const std::string& suffix);
    // `separator`, then a number: an integer, or one with a point.
    PatternEntry& AddNumber(const std::string& separator, bool is_int = true);

    bool Matches(const std::string& target) const override;
    const char* Name() const override { return names_.front().c_str(); }

   private:
    enum class Follows { kNothing, kAnything, kSomething, kInteger, kDecimal };
    struct Part {
      std::string separator;
      Follows follows;
    };
    static bool Fits(Follows follows, const std::string& text);
    bool PartsMatch(const std::string& rest, size_t part) const;

    std::vector<std::string> names_;
    std::vector<Part> parts_;
    bool optional_;
  };

  explicit ObjectLibrary(const std::string& id) : id_(id) {}
  ObjectLibrary(const ObjectLibrary&) = delete;
  ObjectLibrary& operator=(const ObjectLibrary&) = delete;

  // What every registry knows; lives for ever.
  static std::shared_ptr<ObjectLibrary>& Default();

  const std::string& GetID() const { return id_; }

  // The reference lives as long as the library.
  template <typename T>
  const FactoryFunc<T>& AddFactory(const std::string& name, const FactoryFunc<T>& factory) {
    return AddFactory(PatternEntry(name), factory);
  }
  template <typename T>
  const FactoryFunc<T>& AddFactory(const PatternEntry& names, const FactoryFunc<T>& factory) {
    auto added = std::make_unique<FactoryEntry<T>>(names, factory);
    const FactoryFunc<T>& kept = added->factory;
    Add({T::Type(), std::is_const_v<T>}, std::move(added));
    return kept;
  }
  // An empty function: nobody knows the name. Of several the one that was added first.
  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& target) const {
    const auto* const found =
        static_cast<const FactoryEntry<T>*>(Find({T::Type(), std::is_const_v<T>}, target));
    return found == nullptr ? FactoryFunc<T>() : found->factory;
  }

  // How many factories, and in *num_types, unless it is nullptr, of how many classes.
  size_t GetFactoryCount(size_t* num_types) const;
  size_t GetFactoryCount(const std::string& type) const;
  // Adds the names of those of a class; adds the classes.
  void GetFactoryNames(const std::string& type, std::unordered_set<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  // Logs all names.
  void Dump(Logger* logger) const;

 private:
  template <typename T>
  struct FactoryEntry final : Entry {
    FactoryEntry(const PatternEntry& n, const FactoryFunc<T>& f) : names(n), factory(f) {}
    bool Matches(const std::string& target) const override { return names.Matches(target); }
    const char* Name() const override { return names.Name(); }
    const PatternEntry names;
    const FactoryFunc<T> factory;
  };

  using Kind = std::pair<std::string, bool>;  // the class; whether its objects are constant

  void Add(const Kind& kind, std::unique_ptr<Entry> entry);
  const Entry* Find(const Kind& kind, const std::string& target) const;

  const std::string id_;
  mutable std::mutex mutex_;
  std::map<Kind, std::vector<std::unique_ptr<Entry>>> entries_;  // never fewer
};

// Libraries, the latest asked first, then those of the parent. ConfigOptions has one.
//
// Thread safety: all methods from any thread. They throw std::bad_alloc, and what factories throw.
class VARVE_EXPORT ObjectRegistry {
 public:
  explicit ObjectRegistry(const std::shared_ptr<ObjectRegistry>& parent) : parent_(parent) {}
  explicit ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library) {
    libraries_.push_back(library);
  }
  ObjectRegistry(const ObjectRegistry&) = delete;
  ObjectRegistry& operator=(const ObjectRegistry&) = delete;

  // The one with the default library; lives for ever.
  static std::shared_ptr<ObjectRegistry> Default();
  // One with no library of its own. The default registry is the parent, unless another is given.
  static std::shared_ptr<ObjectRegistry> NewInstance();
  static std::shared_ptr<ObjectRegistry> NewInstance(const std::shared_ptr<ObjectRegistry>& parent);

  std::shared_ptr<ObjectLibrary> AddLibrary(const std::string& id);
  void AddLibrary(const std::shared_ptr<ObjectLibrary>& library);
  void AddLibrary(const std::string& id, const RegistrarFunc& registrar, const std::string& arg);

  template <typename T>
  FactoryFunc<T> GetFactory(const std::string& target) const {
    for (const auto& library : Libraries()) {
      FactoryFunc<T> factory = library->template FindFactory<T>(target);
      if (factory) return factory;
    }
    return parent_ == nullptr ? FactoryFunc<T>() : parent_->template GetFactory<T>(target);
  }

  // *object is the caller's if it is in *guard, and lives for ever otherwise. NotSupported: nobody
  // knows the name; InvalidArgument: the factory could not make it. Nothing is changed then.
  template <typename T>
  Status NewObject(const std::string& target, T** object, std::unique_ptr<T>* guard) {
    const FactoryFunc<T> factory = GetFactory<T>(target);
    if (!factory) return NotRegistered(T::Type(), target);
    std::string message;
    std::unique_ptr<T> owner;
    T* const made = factory(target, &owner, &message);
    if (made == nullptr) return Unusable(T::Type(), target, message);
    *object = made;
    *guard = std::move(owner);
    return Status::OK();
  }
  // These refuse, with InvalidArgument, what has no owner, or one.
  template <typename T>
  Status NewUniqueObject(const std::string& target, std::unique_ptr<T>* result) {
    std::unique_ptr<T> guard;
    T* object = nullptr;
    Status s = NewObject(target, &object, &guard);
    if (!s.ok()) return s;
    if (guard == nullptr) return Unusable(T::Type(), target, "it lives for ever, without an owner");
    *result = std::move(guard);
    return Status::OK();
  }
  template <typename T>
  Status NewSharedObject(const std::string& target, std::shared_ptr<T>* result) {
    std::unique_ptr<T> made;
    Status s = NewUniqueObject(target, &made);
    if (s.ok()) *result = std::move(made);
    return s;
  }
  template <typename T>
  Status NewStaticObject(const std::string& target, T** result) {
    std::unique_ptr<T> guard;
    T* object = nullptr;
    Status s = NewObject(target, &object, &guard);
    if (!s.ok()) return s;
    if (guard != nullptr) return Unusable(T::Type(), target, "it does not live for ever");
    *result = object;
    return Status::OK();
  }

  // Of the parent's, too.
  size_t GetFactoryCount(const std::string& type) const;
  void GetFactoryNames(const std::string& type, std::unordered_set<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  void Dump(Logger* logger) const;

 private:
  static Status NotRegistered(const char* type, const std::string& target);
  // What a factory has made, or not.
  static Status Unusable(const char* type, const std::string& target, const std::string& why);
  // The latest first.
  std::vector<std::shared_ptr<ObjectLibrary>> Libraries() const;

  const std::shared_ptr<ObjectRegistry> parent_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ObjectLibrary>> libraries_;
};

}  // namespace varve
