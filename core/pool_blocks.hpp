// SPDX-License-Identifier: Apache-2.0
/// @file pool_blocks.hpp
/// What the pools of the host's and of a device's memory share: their blocks' label, which blocks nobody
/// uses, and which of these goes first.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace sporos::detail {

/// The prefix of the labels of the pools' blocks, by which profiling tools recognise them.
inline constexpr const char* pool_block_label = "sporos::pool, ";

/// Whether the pool's own reference to an array is the only one; nobody else can create another then.
template <class View>
bool is_idle(const View& whole) {
  if (whole.use_count() > 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// Takes idle blocks out of the list, the least recently used first, until `enough()`.
template <class Block, class Enough>
std::vector<std::unique_ptr<Block>> take_out_idle(std::vector<std::unique_ptr<Block>>& blocks,
                                                  const Enough& enough) {
  std::vector<std::unique_ptr<Block>> out;
  while (!enough()) {
    auto oldest = blocks.end();
    for (auto block = blocks.begin(); block != blocks.end(); ++block)
      if ((oldest == blocks.end() || (*block)->last_use < (*oldest)->last_use) && (*block)->idle())
        oldest = block;
    if (oldest == blocks.end()) break;
    out.push_back(std::move(*oldest));
    blocks.erase(oldest);
  }
  return out;
}

}  // namespace sporos::detail
