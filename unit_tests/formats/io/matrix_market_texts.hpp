// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_texts.hpp
/// Reads the text of a Matrix Market file, and expects entries of it.
#pragma once

#include "files.hpp"

#include <initializer_list>
#include <sporos/formats/io/matrix_market.hpp>
#include <utility>

namespace sporos_test {

template <class Value>
sporos::Entries<Value, 2> read(const std::string& text, const sporos::ReadOptions& options = {}) {
  const Folder folder;
  return sporos::read_matrix_market_entries<Value>(folder.put("a.mtx", text), options);
}

template <class Value>
void expect_entries(const sporos::Entries<Value, 2>& entries, const sporos::Extents<2>& extents,
                    std::initializer_list<std::pair<sporos::Extents<2>, Value>> expected) {
  EXPECT_TRUE(identical(entries, sporos::Entries<Value, 2>(extents, expected)));
}

}  // namespace sporos_test
