// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Marks symbols that the library exports. All others are hidden when Varve is built as a shared
// object, so an unmarked class or function is internal.

/// Put it after `class`/`struct`, or before a whole function declaration (before `static`): as a
/// standard attribute it can be combined with [[nodiscard]] on both compilers.
#define VARVE_EXPORT [[gnu::visibility("default")]]
