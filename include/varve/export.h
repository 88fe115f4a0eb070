// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The mark of a symbol that leaves the library. Everything else is hidden when Varve is built as a
// shared object, so an unmarked class or function is internal by construction.

/// Stands after `class`/`struct`, or in front of a whole function declaration (before `static`):
/// a standard attribute, so that it mixes with [[nodiscard]] on both compilers.
#define VARVE_EXPORT [[gnu::visibility("default")]]
