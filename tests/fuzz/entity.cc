// SPDX-License-Identifier: Apache-2.0

// Fuzzes the decoders of entities: they agree on what is well-formed, slices lie within the input,
// and the columns of an entity that is read make an entity with the same columns.

#include "util/key/entity.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  const std::string many(200, 'm');
  for (const WideColumns& columns :
       {WideColumns{}, WideColumns{{"", "dflt"}}, WideColumns{{"a", "1"}, {"", "d"}, {"bc", ""}},
        WideColumns{{"long", many}, {many, "long"}}}) {
    std::string entity;
    Promise(EncodeEntity(columns, &entity).ok(), "seeds can be encoded");
    seeds->push_back(entity);
  }
}

bool LiesIn(const Slice& part, const Slice& whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void CheckColumns(const Slice& entity, const WideColumns& columns) {
  Slice last;
  for (const WideColumn& column : columns) {
    Promise(LiesIn(column.name(), entity) && LiesIn(column.value(), entity),
            "columns lie in the entity");
    Promise(&column == columns.data() || last.compare(column.name()) < 0, "names ascend");
    last = column.name();
    Slice value;
    bool found = false;
    Promise(
        FindColumn(entity, column.name(), &value, &found).ok() && found && value == column.value(),
        "each column is found");
  }
  std::string again;
  WideColumns decoded;
  Promise(EncodeEntity(columns, &again).ok() && DecodeEntity(again, &decoded).ok() &&
              decoded == columns,
          "columns make an entity with the same columns");
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const varve::Slice entity(reinterpret_cast<const char*>(data), size);
  varve::WideColumns columns;
  varve::Slice value;
  const varve::Status s = varve::DecodeEntity(entity, &columns);
  fuzz::Note(s);
  fuzz::Promise(varve::CheckEntity(entity) == s && varve::DefaultColumnOf(entity, &value) == s,
                "all decoders agree");
  if (!s.ok()) return 0;
  fuzz::Note(100 + (columns.size() < 50 ? columns.size() : 50));
  fuzz::CheckColumns(entity, columns);
  const bool has_default = !columns.empty() && columns[0].name().empty();
  fuzz::Promise(value == (has_default ? columns[0].value() : varve::Slice()),
                "plain reads see the default column");
  return 0;
}

static const varve::fuzz::Register registered({"entity", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 80});
