// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks one iterator for each of several column families together, key by key.

#include <functional>
#include <memory>
#include <vector>

#include "varve/attribute_groups.h"
#include "varve/db.h"
#include "varve/iterator.h"

namespace varve {

// Makes an iterator for each family, in their order and at one state. The caller owns them. With an
// error it makes none.
using NewFamilyIterators = std::function<Status(std::vector<Iterator*>* iterators)>;

// Make the iterators of DB::NewCoalescingIterator and DB::NewAttributeGroupIterator. `make` is
// called at most once, before the return. Returns an iterator that owns those which `make` made,
// and refers to the handles of `families`; it is never null, and is used in one thread at a time.
// If `make` fails, the iterator has that error as its status for good.
std::unique_ptr<Iterator> MakeCoalescingIterator(const NewFamilyIterators& make,
                                                 const std::vector<ColumnFamilyHandle*>& families);
std::unique_ptr<AttributeGroupIterator> MakeAttributeGroupIterator(
    const NewFamilyIterators& make, const std::vector<ColumnFamilyHandle*>& families);

}  // namespace varve
