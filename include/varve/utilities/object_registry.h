// SPDX-License-Identifier: Apache-2.0
#pragma once

// ObjectRegistry makes objects of the program's own classes from their names, so that options text
// and OPTIONS files may name them.
//
//   ObjectLibrary::Default()->AddFactory<MergeOperator>(
//       "counters", [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
//         guard->reset(new Counters());
//         return guard->get();
//       });
//
// From then on "merge_operator=counters" is understood. Registered names take precedence over
// built-in ones. A class that can be registered has a static function CreateFromString, whose
// comment says so. Comparators and compaction filters must live for ever; objects of other classes,
// such as merge operators, file systems, statistics and factories, must have an owner.

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
// ever. Returns nullptr, with the reason in *errmsg, if it cannot be made. Called without a lock;
// may throw.
template <typename T>
using FactoryFunc =
    std::function<T*(const std::string& id, std::unique_ptr<T>* guard, std::string* errmsg)>;

// Adds factories to a library and returns how many.
using RegistrarFunc = std::function<int(ObjectLibrary& library, const std::string& arg)>;

// Stores factories by the class they make, T::Type(), and by the names they match. Factories of
// constant objects (AddFactory<const Comparator>) are found only by lookups for constant objects.
//
// Thread safety: any thread may call any method. They throw only std::bad_alloc.
class VARVE_EXPORT ObjectLibrary {
 public:
  // Matches the names that a factory accepts.
  class VARVE_EXPORT Entry {
   public:
    virtual ~Entry() = default;
    // True if the factory makes objects of that name.
    virtual bool Matches(const std::string& target) const = 0;
    // Returns the name under which the factory is listed. It stays valid as long as the entry.
    virtual const char* Name() const = 0;
  };

  // Matches a name, or one of several, followed by the added parts in their order.
  class VARVE_EXPORT PatternEntry final : public Entry {
   public:
    // `optional`: the name without the parts matches too.
    explicit PatternEntry(const std::string& name, bool optional = true);
    // Matches the name, and the id of an individual object of that name: name@address#process.
    static PatternEntry AsIndividualId(const std::string& name);

    // Says if the name without the parts matches too.
    PatternEntry& SetOptional(bool optional);
    // Adds a name that matches like the first.
    PatternEntry& AnotherName(const std::string& alternative);
    // Adds `separator` followed by any text; with `at_least_one`, by at least one byte.
    PatternEntry& AddSeparator(const std::string& separator, bool at_least_one = true);
    // Adds this text.
    PatternEntry& AddSuffix(const std::string& suffix);
    // Adds `separator` followed by a number: an integer, or one with a decimal point.
    PatternEntry& AddNumber(const std::string& separator, bool is_int = true);

    bool Matches(const std::string& target) const override;
    const char* Name() const override { return names_.front().c_str(); }

   private:
    // The text that may follow the separator of a part.
    enum class Follows { kNothing, kAnything, kSomething, kInteger, kDecimal };
    struct Part {
      std::string separator;
      Follows follows;
    };
    static bool Fits(Follows follows, const std::string& text);
    // True if `rest` consists of the parts from `part` on.
    bool PartsMatch(const std::string& rest, size_t part) const;

    std::vector<std::string> names_;
    std::vector<Part> parts_;
    bool optional_;
  };

  // Makes an empty library; a registry must be given it before its factories are found.
  explicit ObjectLibrary(const std::string& id) : id_(id) {}
  ObjectLibrary(const ObjectLibrary&) = delete;
  ObjectLibrary& operator=(const ObjectLibrary&) = delete;

  // Returns the library that every registry contains; it lives for ever.
  static std::shared_ptr<ObjectLibrary>& Default();

  // Returns the name that the library was made with.
  const std::string& GetID() const { return id_; }

  // Add a factory for objects of class T. A string as name matches itself alone; a PatternEntry
  // matches its names and parts. The returned reference lives as long as the library.
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
  // Returns the factory that matches the name, of several the one added first, or an empty
  // function.
  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& target) const {
    const auto* const found =
        static_cast<const FactoryEntry<T>*>(Find({T::Type(), std::is_const_v<T>}, target));
    return found == nullptr ? FactoryFunc<T>() : found->factory;
  }

  // Returns the number of factories, and sets *num_types, unless null, to the number of their
  // classes. The second form counts the factories of one class.
  size_t GetFactoryCount(size_t* num_types) const;
  size_t GetFactoryCount(const std::string& type) const;
  // Add to the set the names of the factories of a class, or the names of all classes.
  void GetFactoryNames(const std::string& type, std::unordered_set<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  // Writes the names of all factories to the log.
  void Dump(Logger* logger) const;

 private:
  // A factory with the names that it accepts.
  template <typename T>
  struct FactoryEntry final : Entry {
    FactoryEntry(const PatternEntry& n, const FactoryFunc<T>& f) : names(n), factory(f) {}
    bool Matches(const std::string& target) const override { return names.Matches(target); }
    const char* Name() const override { return names.Name(); }
    const PatternEntry names;
    const FactoryFunc<T> factory;
  };

  // The name of a class, and true if its objects are constant.
  using Kind = std::pair<std::string, bool>;

  // Entries are kept for the life of the library, so that references to factories stay valid.
  void Add(const Kind& kind, std::unique_ptr<Entry> entry);
  const Entry* Find(const Kind& kind, const std::string& target) const;

  const std::string id_;
  mutable std::mutex mutex_;
  // Factories by class, in the order in which they were added. Nothing is removed.
  std::map<Kind, std::vector<std::unique_ptr<Entry>>> entries_;
};

// Searches its libraries, the latest first, then its parent. ConfigOptions holds one.
//
// Thread safety: any thread may call any method. They throw std::bad_alloc, and whatever factories
// throw.
class VARVE_EXPORT ObjectRegistry {
 public:
  // Makes a registry without a library, which finds what `parent` has.
  explicit ObjectRegistry(const std::shared_ptr<ObjectRegistry>& parent) : parent_(parent) {}
  // Makes a registry of this library alone, without a parent.
  explicit ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library) {
    libraries_.push_back(library);
  }
  ObjectRegistry(const ObjectRegistry&) = delete;
  ObjectRegistry& operator=(const ObjectRegistry&) = delete;

  // Returns the registry with the default library; it lives for ever.
  static std::shared_ptr<ObjectRegistry> Default();
  // Returns a registry without a library of its own. Its parent is the default registry unless
  // another is given.
  static std::shared_ptr<ObjectRegistry> NewInstance();
  static std::shared_ptr<ObjectRegistry> NewInstance(const std::shared_ptr<ObjectRegistry>& parent);

  // Add a new library, an existing one, or a new one that `registrar` fills; a later library takes
  // precedence over earlier ones. The first form returns the new library. A library that is added
  // twice is searched twice, which changes nothing.
  std::shared_ptr<ObjectLibrary> AddLibrary(const std::string& id);
  void AddLibrary(const std::shared_ptr<ObjectLibrary>& library);
  void AddLibrary(const std::string& id, const RegistrarFunc& registrar, const std::string& arg);

  // Returns the factory that matches the name, from the latest library that has one, or from the
  // parent; an empty function if none matches.
  template <typename T>
  FactoryFunc<T> GetFactory(const std::string& target) const {
    for (const auto& library : Libraries()) {
      FactoryFunc<T> factory = library->template FindFactory<T>(target);
      if (factory) return factory;
    }
    return parent_ == nullptr ? FactoryFunc<T>() : parent_->template GetFactory<T>(target);
  }

  // Makes the object that `target` names. The caller owns *object if it is in *guard; otherwise it
  // lives for ever. NotSupported: no factory matches the name; InvalidArgument: the factory could
  // not make the object. On error nothing is changed.
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
  // Like NewObject. NewUniqueObject and NewSharedObject return InvalidArgument for objects without
  // an owner, NewStaticObject for objects with one.
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

  // Do what the functions of the same names in ObjectLibrary do, for all libraries and for the
  // parent.
  size_t GetFactoryCount(const std::string& type) const;
  void GetFactoryNames(const std::string& type, std::unordered_set<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  void Dump(Logger* logger) const;

 private:
  // Returns the error for a name that no factory matches.
  static Status NotRegistered(const char* type, const std::string& target);
  // Returns the error for an object that the factory could not make, or that has the wrong owner.
  static Status Unusable(const char* type, const std::string& target, const std::string& why);
  // Returns the libraries, the latest first.
  std::vector<std::shared_ptr<ObjectLibrary>> Libraries() const;

  const std::shared_ptr<ObjectRegistry> parent_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ObjectLibrary>> libraries_;
};

}  // namespace varve
