// SPDX-License-Identifier: Apache-2.0
/// @file kernel_of.hpp
/// Which candidate runs a statement.
#pragma once

#include <sporos/sporos.hpp>
#include <string>

namespace sporos::test {

/// The name of the candidate that runs a statement.
template <class S>
std::string candidate_of(const S& statement) {
  return with_candidate<std::string>(statement, Use::once, [&]<class K>() { return std::string(K::name); });
}

/// The name of the specialised kernel that runs a statement; "" if the loop nest does.
template <class S>
std::string kernel_of(const S& statement) {
  return with_candidate<std::string>(
      statement, Use::once, [&]<class K>() { return is_nest<K> ? std::string() : std::string(K::name); });
}

}  // namespace sporos::test
