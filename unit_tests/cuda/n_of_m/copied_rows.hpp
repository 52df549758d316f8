// SPDX-License-Identifier: Apache-2.0
/// @file copied_rows.hpp
/// N:M products by blocks that are told which rows of the dense factor to copy.
#pragma once

#include <sporos/sporos.hpp>
#include <string_view>

namespace sporos::test {

/// gpu::NmByBlocks, except that the model does not choose which rows are copied.
template <gpu::NmCopiedRows Copied>
struct NmByBlocksThatCopy : gpu::NmByBlocks {
  static constexpr std::string_view name = Copied == gpu::NmCopiedRows::listed
                                               ? "N:M product by blocks that list rows"
                                               : "N:M product by blocks that copy all rows";

  template <class S>
  struct Plan : gpu::NmByBlocks::Plan<S> {
    Plan(const S& statement, const Resources<Cuda>& resources)
        : gpu::NmByBlocks::Plan<S>(statement, resources, Copied) {}
  };
  template <class S>
  static Offer cost(const S& statement, const Resources<Cuda>& resources) {
    return Cost{Plan<S>(statement, resources).seconds()};
  }
};
using NmByBlocksOfListedRows = NmByBlocksThatCopy<gpu::NmCopiedRows::listed>;
using NmByBlocksOfAllRows = NmByBlocksThatCopy<gpu::NmCopiedRows::all>;

}  // namespace sporos::test
