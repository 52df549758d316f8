// SPDX-License-Identifier: Apache-2.0
/// @file value_exchange.hpp
/// Values that other ranks need, sent whenever they have changed: packed, sent, received.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/space.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// Part [begin, end) of an array, which keeps it alive.
template <class T, class MemorySpace>
Array<T, MemorySpace> part_of_array(const Array<T, MemorySpace>& array, std::int64_t begin,
                                    std::int64_t end) {
  return Kokkos::subview(array, std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(begin),
                                                                    static_cast<std::size_t>(end)));
}

/// packed[at] = values[positions[at]], in rows of `width` values.
template <class Value>
struct PackRows {
  const Value* values;
  const std::int64_t* positions;
  Value* packed;
  std::int64_t width;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    const Value* const from = values + positions[at] * width;
    Value* const to = packed + at * width;
    for (std::int64_t k = 0; k < width; ++k) to[k] = from[k];
  }
};

/// Where messages wait on the host between a GPU and MPI: memory that the GPU copies to and from directly.
template <class Space>
struct StagingOf {
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
  using type = Kokkos::SharedHostPinnedSpace;
#else
  using type = Kokkos::HostSpace;
#endif
};
template <HostSpace Space>
struct StagingOf<Space> {
  using type = typename Space::memory_space;
};

/// Values for or from all ranks, those of rank 0 first, and the memory that their messages use.
///
///     values    a b c | d e | f g h      of ranks 0, 1 and 2; on rank 1, d and e stay here
///     staged    a b c | f g h            only where MPI cannot reach the memory of the values
template <class Value, class Space>
class MessageBuffer {
 public:
  using memory_space = typename Space::memory_space;

  MessageBuffer() = default;
  /// @param counts  values of each rank
  MessageBuffer(const Communicator& ranks, const std::vector<std::int64_t>& counts) {
    std::int64_t size = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      if (rank == ranks.rank()) own_.begin = size;
      size += counts[static_cast<std::size_t>(rank)];
      if (rank == ranks.rank()) own_.end = size;
    }
    values_ = make_array<Value, memory_space>("sporos::MessageBuffer values", size);
    if (!Communicator::reaches<memory_space>())
      staged_ = make_array<Value, staging_space>("sporos::MessageBuffer staged", size - own_.size());
  }

  const Array<Value, memory_space>& values() const { return values_; }
  /// The place of this rank's own values.
  const Bounds& own() const { return own_; }

  /// Where the message of another rank, whose values begin at `at`, leaves from or arrives.
  Value* message(std::int64_t at) const {
    return is_staged() ? staged_.data() + (at < own_.end ? at : at - own_.size()) : values_.data() + at;
  }
  /// What keeps the memory of the messages alive.
  std::shared_ptr<const void> owner() const {
    if (is_staged()) return std::make_shared<Array<Value, staging_space>>(staged_);
    return std::make_shared<Array<Value, memory_space>>(values_);
  }

  /// Starts to copy the values of the other ranks to where their messages leave from, or from where they have
  /// arrived.
  void stage(const Space& space) const { copy_staged(space, true); }
  void unstage(const Space& space) const { copy_staged(space, false); }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>((values_.extent(0) + staged_.extent(0)) * sizeof(Value));
  }

 private:
  using staging_space = typename StagingOf<Space>::type;

  bool is_staged() const { return staged_.data() != nullptr; }

  void copy_staged(const Space& space, bool leaves) const {
    if (!is_staged()) return;
    const auto copy = [&](const Bounds& part, std::int64_t staged_at) {
      if (part.size() <= 0) return;
      const auto here = part_of_array(values_, part.begin, part.end);
      const auto there = part_of_array(staged_, staged_at, staged_at + part.size());
      if (leaves)
        Kokkos::deep_copy(space, there, here);
      else
        Kokkos::deep_copy(space, here, there);
    };
    copy({0, own_.begin}, 0);
    copy({own_.end, static_cast<std::int64_t>(values_.extent(0))}, own_.begin);
  }

  Array<Value, memory_space> values_;
  Array<Value, staging_space> staged_;
  Bounds own_;
};

/// The exchange of rows of values between ranks, in the same way each time.
///
///     values of this rank   packed for rank 0, 1, …         received from rank 0, 1, …
///     a b c d e f g         b c | f | a g          →→→      h i | j | k
///
/// Packed in the memory of `Space`. Messages leave from there if MPI can read it, as it reads the memory of
/// GPUs where it was built for that, else from a copy on the host.
template <TensorValue Value, ExecutionSpace Space>
class ValueExchange {
 public:
  using memory_space = typename Space::memory_space;

  ValueExchange() = default;

  /// @param width      the number of values of a row
  /// @param positions  the rows that are sent, those to rank 0 first
  /// @param sends      how many of them to each rank
  /// @param receives   how many come from each rank. A rank sends to itself what it receives from itself, or
  ///                   nothing: then room is left for its own rows, which the caller fills
  ValueExchange(const Communicator& ranks, std::int64_t width, const std::vector<std::int64_t>& positions,
                const std::vector<std::int64_t>& sends, const std::vector<std::int64_t>& receives)
      : width_(width), packed_(ranks, values_of(sends)), received_(ranks, values_of(receives)) {
    positions_ =
        make_array<std::int64_t, memory_space>("sporos::ValueExchange positions", std::ssize(positions));
    Kokkos::deep_copy(positions_, HostArray<const std::int64_t>(positions.data(), positions.size()));
    messages_ = std::make_unique<RepeatedMessages>();
    prepare(ranks, values_of(sends), values_of(receives));
  }

  /// Packs values and sends them.
  void start(const Space& space, const Array<Value, memory_space>& values) {
    if (!messages_) return;
    const auto count = static_cast<std::int64_t>(positions_.extent(0));
    if (count > 0) {
      const PackRows<Value> pack{values.data(), positions_.data(), packed_.values().data(), width_};
      Kokkos::parallel_for("sporos::ValueExchange pack",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
                           pack);
      packed_.stage(space);
    }
    // What reads the values that were received last has ended as well.
    space.fence("sporos::ValueExchange pack");
    messages_->start();
    copy_own(space);
  }

  /// Waits for the values of the others.
  void finish(const Space& space) {
    if (!messages_) return;
    messages_->wait();
    received_.unstage(space);
    if constexpr (!HostSpace<Space>) space.fence("sporos::ValueExchange received");
  }

  /// The rows that have come, those from rank 0 first.
  const Array<Value, memory_space>& received() const { return received_.values(); }

  /// The place in them, in values, of the rows that come from this rank.
  const Bounds& own() const { return received_.own(); }

  /// Messages to other ranks, and the bytes of all of them.
  std::int64_t messages() const { return message_count_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::int64_t bytes_received() const { return bytes_received_; }
  /// Bytes of the buffers.
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(positions_.extent(0)) * 8 + packed_.bytes() + received_.bytes();
  }

 private:
  std::vector<std::int64_t> values_of(const std::vector<std::int64_t>& rows) const {
    std::vector<std::int64_t> out(rows);
    for (std::int64_t& count : out) count *= width_;
    return out;
  }

  /// Copies what this rank sends to itself.
  void copy_own(const Space& space) const {
    const Bounds &from = packed_.own(), &to = received_.own();
    if (from.size() == 0) return;
    if constexpr (HostSpace<Space>)
      std::memcpy(static_cast<void*>(received_.values().data() + to.begin),
                  packed_.values().data() + from.begin,
                  static_cast<std::size_t>(from.size()) * sizeof(Value));
    else
      Kokkos::deep_copy(space, part_of_array(received_.values(), to.begin, to.end),
                        part_of_array(packed_.values(), from.begin, from.end));
  }

  /// @param sends, receives  values for and from each rank
  void prepare(const Communicator& ranks, const std::vector<std::int64_t>& sends,
               const std::vector<std::int64_t>& receives) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Value));
    const auto for_each_other = [&](const std::vector<std::int64_t>& counts, const auto& visit) {
      std::int64_t at = 0;
      for (int rank = 0; rank < ranks.size(); ++rank) {
        const std::int64_t count = counts[static_cast<std::size_t>(rank)];
        if (rank != ranks.rank() && count > 0) visit(rank, at, count);
        at += count;
      }
    };
    for_each_other(receives, [&](int from, std::int64_t at, std::int64_t count) {
      ranks.prepare_receive(*messages_, received_.message(at), count, from, received_.owner());
      bytes_received_ += count * size;
    });
    for_each_other(sends, [&](int to, std::int64_t at, std::int64_t count) {
      ranks.prepare_send(*messages_, packed_.message(at), count, to, packed_.owner());
      bytes_sent_ += count * size;
      ++message_count_;
    });
  }

  std::int64_t width_ = 1;
  Array<std::int64_t, memory_space> positions_;
  MessageBuffer<Value, Space> packed_, received_;
  std::unique_ptr<RepeatedMessages> messages_;
  std::int64_t message_count_ = 0, bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace sporos::detail
