// SPDX-License-Identifier: Apache-2.0
// Goal: a program's own class with options is configured, printed and compared as text, an object
// without options answers as one of RocksDB's does, and classes are found inside of what wraps
// them. Method: two classes of a program, and the answers that RocksDB 7.8.3 gave to the same
// questions.

#include "varve/customizable.h"

#include <gtest/gtest.h>

#include <charconv>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "varve/convenience.h"

namespace varve {
namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

struct ShelfOptions {
  static const char* kName() { return "ShelfOptions"; }
  int width = 1;
  std::string label;
};

// A class of a program, with two options.
class Shelf : public Customizable {
 public:
  static const char* kClassName() { return "Shelf"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return "board"; }

  Status PrepareOptions(const ConfigOptions& config) override {
    ++prepared;
    return Customizable::PrepareOptions(config);
  }

  int prepared = 0;

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == ShelfOptions::kName() ? &options_ : nullptr;
  }
  Status ConfigureOptions(const ConfigOptions& config, const OptionMap& map,
                          OptionMap* unused) override {
    ShelfOptions changed = options_;
    OptionMap others;
    for (const auto& [name, value] : map) {
      if (name == "label") {
        changed.label = value;
      } else if (name == "width") {
        const char* const end = value.data() + value.size();
        if (std::from_chars(value.data(), end, changed.width).ptr != end || value.empty()) {
          return Status::InvalidArgument("width: not a number", value);
        }
      } else {
        others.emplace(name, value);
      }
    }
    const Status s = Customizable::ConfigureOptions(config, others, unused);
    if (s.ok()) options_ = std::move(changed);
    return s;
  }
  std::string PrintOptions(const ConfigOptions& /*config*/) const override {
    return "width=" + std::to_string(options_.width) + ";label={" + options_.label + "};";
  }

 private:
  ShelfOptions options_;
};

// Has no options, and may wrap another.
class Box : public Customizable {
 public:
  explicit Box(const Customizable* inner = nullptr) : inner_(inner) {}
  static const char* kClassName() { return "Box"; }
  const char* Name() const override { return kClassName(); }
  const Customizable* Inner() const override { return inner_; }

 private:
  const Customizable* const inner_;
};

// Has no name.
class Nameless : public Configurable {};

ConfigOptions Ignoring() {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  return config;
}

bool Names(const Status& s, const char* what) {
  return s.ToString().find(what) != std::string::npos;
}

TEST(CustomizableTest, OptionsAreSetTogetherOrNotAtAll) {
  const ConfigOptions config;
  Shelf shelf;
  ASSERT_TRUE(shelf.ConfigureFromString(config, "width=3; label={a;b}").ok());
  const auto* const options = shelf.GetOptions<ShelfOptions>();
  EXPECT_EQ(options->width, 3);
  EXPECT_EQ(options->label, "a;b");
  EXPECT_EQ(shelf.GetOptions<ShelfOptions>("ShelfOptions"), options);
  EXPECT_EQ(shelf.GetOptions<ShelfOptions>("other"), nullptr);
  EXPECT_EQ(std::as_const(shelf).GetOptions<ShelfOptions>(), options);

  Status s = shelf.ConfigureFromMap(config, {{"width", "4"}, {"colour", "red"}});
  EXPECT_TRUE(s.IsNotFound() && Names(s, "colour")) << s.ToString();
  s = shelf.ConfigureFromString(config, "label=c;width=wide");
  EXPECT_TRUE(s.IsInvalidArgument() && Names(s, "width")) << s.ToString();
  s = shelf.ConfigureFromString(config, "width");
  EXPECT_TRUE(s.IsInvalidArgument() && Names(s, "width")) << s.ToString();
  EXPECT_TRUE(shelf.ConfigureFromString(config, "{width=5").IsInvalidArgument());
  EXPECT_EQ(options->width, 3);
  EXPECT_EQ(options->label, "a;b");
  EXPECT_EQ(shelf.prepared, 1);

  ASSERT_TRUE(shelf.ConfigureFromMap(Ignoring(), {{"width", "4"}, {"colour", "red"}}).ok());
  EXPECT_EQ(options->width, 4);
  OptionMap unused = {{"before", "1"}};
  ASSERT_TRUE(shelf.ConfigureFromMap(config, {{"width", "5"}, {"colour", "red"}}, &unused).ok());
  EXPECT_EQ(options->width, 5);
  EXPECT_EQ(unused, OptionMap({{"before", "1"}, {"colour", "red"}}));
  ASSERT_TRUE(shelf.ConfigureOption(config, "width", "6").ok());
  EXPECT_EQ(options->width, 6);
  s = shelf.ConfigureOption(Ignoring(), "colour", "red");
  EXPECT_TRUE(s.IsNotFound() && Names(s, "colour")) << s.ToString();
}

TEST(CustomizableTest, PreparationCanWait) {
  ConfigOptions config;
  config.invoke_prepare_options = false;
  Shelf shelf;
  ASSERT_TRUE(shelf.ConfigureFromString(config, "{width=3}").ok());
  EXPECT_EQ(shelf.prepared, 0);
}

TEST(CustomizableTest, OptionsArePrinted) {
  ConfigOptions config;
  Shelf shelf;
  ASSERT_TRUE(shelf.ConfigureFromString(config, "width=3;label={a;b}").ok());
  std::string text;
  ASSERT_TRUE(shelf.GetOptionString(config, &text).ok());
  EXPECT_EQ(text, "width=3;label={a;b};");
  Shelf other;
  ASSERT_TRUE(other.ConfigureFromString(config, text).ok());
  EXPECT_EQ(other.ToString(config), "{id=Shelf;width=3;label={a;b};}");
  EXPECT_EQ(other.ToString(config, "s."), "{s.id=Shelf;s.width=3;s.label={a;b};}");
  config.delimiter = "\n";
  EXPECT_EQ(other.ToString(config), "{id=Shelf\nwidth=3\nlabel={a;b}\n}");
  config.depth = ConfigOptions::kDepthShallow;
  EXPECT_EQ(other.ToString(config), "Shelf");

  std::unordered_set<std::string> names;
  ASSERT_TRUE(shelf.GetOptionNames(config, &names).ok());
  EXPECT_EQ(names, std::unordered_set<std::string>({"width", "label"}));
  ASSERT_TRUE(shelf.GetOption(config, "label", &text).ok());
  EXPECT_EQ(text, "{a;b}");
  ASSERT_TRUE(shelf.GetOption(config, "id", &text).ok());
  EXPECT_EQ(text, "Shelf");
  const Status s = shelf.GetOption(config, "colour", &text);
  EXPECT_TRUE(s.IsNotFound() && Names(s, "colour")) << s.ToString();
}

TEST(CustomizableTest, ObjectsAreCompared) {
  ConfigOptions config;
  Shelf shelf;
  Shelf other;
  const Box box;
  std::string name = "none";
  EXPECT_TRUE(shelf.AreEquivalent(config, &other, &name));
  EXPECT_TRUE(shelf.AreEquivalent(config, &shelf, &name));
  EXPECT_FALSE(shelf.AreEquivalent(config, nullptr, &name));
  EXPECT_EQ(name, "none");
  ASSERT_TRUE(other.ConfigureOption(config, "label", "b").ok());
  EXPECT_FALSE(shelf.AreEquivalent(config, &other, &name));
  EXPECT_EQ(name, "label");
  EXPECT_FALSE(shelf.AreEquivalent(config, &box, &name));
  EXPECT_EQ(name, "id");
  EXPECT_FALSE(Box().AreEquivalent(config, std::make_unique<Nameless>().get(), &name));
  EXPECT_TRUE(Nameless().AreEquivalent(config, &box, &name));
  EXPECT_FALSE(Nameless().AreEquivalent(config, &shelf, &name));

  config.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  EXPECT_TRUE(shelf.AreEquivalent(config, &other, &name));
  EXPECT_FALSE(shelf.AreEquivalent(config, &box, &name));
  config.sanity_level = ConfigOptions::kSanityLevelNone;
  EXPECT_TRUE(shelf.AreEquivalent(config, &box, &name));
}

template <typename T>
void AnswersWithoutOptions(T* object, const std::string& id) {
  const ConfigOptions config;
  EXPECT_TRUE(object->ConfigureFromMap(config, {}).ok());
  EXPECT_TRUE(object->ConfigureFromString(config, "").ok());
  EXPECT_TRUE(object->ConfigureFromString(config, "a").ok());
  for (const char* text : {"a=1", "{a=1}"}) {
    const Status s = object->ConfigureFromString(config, text);
    EXPECT_TRUE(s.IsNotFound() && Names(s, "a")) << s.ToString();
  }
  EXPECT_TRUE(object->ConfigureFromString(config, "id=Box").IsNotFound());
  EXPECT_TRUE(object->ConfigureFromString(Ignoring(), "a=1").ok());
  EXPECT_TRUE(object->ConfigureOption(Ignoring(), "a", "1").IsNotFound());
  std::string text = "before";
  EXPECT_TRUE(object->GetOption(Ignoring(), "a", &text).IsNotFound());
  EXPECT_EQ(object->GetOption(config, "id", &text).ok(), !id.empty());
  EXPECT_TRUE(object->GetOptionString(config, &text).ok());
  EXPECT_EQ(text, "");
  EXPECT_EQ(object->ToString(config), id);
  EXPECT_EQ(object->GetPrintableOptions(), "");
  EXPECT_TRUE(object->PrepareOptions(config).ok());
  EXPECT_TRUE(object->ValidateOptions(DBOptions(), ColumnFamilyOptions()).ok());
  EXPECT_EQ(object->template GetOptions<ShelfOptions>(), nullptr);
}

TEST(CustomizableTest, AnObjectMayHaveNoOptions) {
  Box box;
  AnswersWithoutOptions(&box, "Box");
  Nameless nameless;
  AnswersWithoutOptions(&nameless, "");
}

TEST(CustomizableTest, ClassesAreFoundInsideOfOthers) {
  Shelf shelf;
  Box inner(&shelf);
  Box box(&inner);
  EXPECT_TRUE(shelf.IsInstanceOf("Shelf") && shelf.IsInstanceOf("board"));
  EXPECT_FALSE(shelf.IsInstanceOf(""));
  EXPECT_FALSE(box.IsInstanceOf("Shelf"));
  EXPECT_EQ(box.CheckedCast<Shelf>(), &shelf);
  EXPECT_EQ(std::as_const(box).CheckedCast<Shelf>(), &shelf);
  EXPECT_EQ(box.CheckedCast<Box>(), &box);
  EXPECT_EQ(shelf.CheckedCast<Box>(), nullptr);
  EXPECT_EQ(box.GetId(), "Box");
  EXPECT_TRUE(box.GenerateIndividualId().starts_with("Box@0x"));
  EXPECT_NE(box.GenerateIndividualId(), inner.GenerateIndividualId());
}

// Returns the id and the options of a text: "id: name=value ...".
std::string TakenApart(const Customizable* custom, const std::string& text) {
  std::string id = "before";
  OptionMap options = {{"before", "1"}};
  EXPECT_TRUE(Customizable::GetOptionsMap(ConfigOptions(), custom, text, &id, &options).ok());
  std::string result = id + ":";
  for (const char* name : {"before", "width", "label", "a"}) {
    if (options.contains(name)) result += std::string(" ") + name + "=" + options[name];
  }
  return result;
}

TEST(CustomizableTest, TextsOfObjectsAreTakenApart) {
  Shelf shelf;
  ASSERT_TRUE(shelf.ConfigureFromString(ConfigOptions(), "width=3;label={a;b}").ok());
  for (const Customizable* custom :
       {static_cast<Customizable*>(&shelf), static_cast<Customizable*>(nullptr)}) {
    EXPECT_EQ(TakenApart(custom, ""), ":");
    EXPECT_EQ(TakenApart(custom, "nullptr"), ":");
    EXPECT_EQ(TakenApart(custom, "id=nullptr;a=1"), ": a=1");
    EXPECT_EQ(TakenApart(custom, "Other"), "Other:");
    EXPECT_EQ(TakenApart(custom, "{id=Other;a={b=c}}"), "Other: a=b=c");
    EXPECT_EQ(TakenApart(custom, "a=1;b"), "a=1;b:");
  }
  EXPECT_EQ(TakenApart(&shelf, "Shelf"), "Shelf: width=3 label=a;b");
  EXPECT_EQ(TakenApart(&shelf, "id=Shelf;width=4;a=1"), "Shelf: width=4 label=a;b a=1");
  EXPECT_EQ(TakenApart(&shelf, "width=4"), "Shelf: width=4 label=a;b");
  EXPECT_EQ(TakenApart(nullptr, "width=4"), "width=4:");
  std::string id;
  OptionMap options;
  ASSERT_TRUE(Customizable::GetOptionsMap("width=4", "Shelf", &id, &options).ok());
  EXPECT_EQ(id, "Shelf");
  EXPECT_EQ(options, OptionMap({{"width", "4"}}));
}

TEST(CustomizableTest, NewObjectsAreConfigured) {
  const ConfigOptions config;
  Shelf shelf;
  EXPECT_TRUE(Customizable::ConfigureNewObject(config, &shelf, {{"width", "4"}}).ok());
  EXPECT_EQ(shelf.GetOptions<ShelfOptions>()->width, 4);
  EXPECT_TRUE(Customizable::ConfigureNewObject(config, &shelf, {{"a", "1"}}).IsNotFound());
  EXPECT_TRUE(Customizable::ConfigureNewObject(config, nullptr, {}).ok());
  const Status s = Customizable::ConfigureNewObject(config, nullptr, {{"a", "1"}});
  EXPECT_TRUE(s.IsInvalidArgument() && Names(s, "a")) << s.ToString();
}

}  // namespace
}  // namespace varve
