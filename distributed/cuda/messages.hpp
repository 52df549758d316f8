// SPDX-License-Identifier: Apache-2.0
/// @file messages.hpp
/// The messages of an exchange between the memories of GPUs, by any transport.
#pragma once

#include "transport.hpp"

#ifdef KOKKOS_ENABLE_CUDA

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../ranked_values.hpp"

namespace sporos::detail {

/// The messages of an exchange between the memories of GPUs. They travel on a stream of their own, beside
/// what the space instance computes meanwhile, and the host waits for them only where MPI carries them:
///
///                  start()                       finish()
///     space        pack │ what is submitted meanwhile  │ what reads the values
///     nccl              └─ send and receive ───────────┤
///     staged            └─ copy to the host ─┐         ┌─ copy from the host ─┤
///     mpi's messages                         └─────────┘
///
/// MPI's messages leave in finish(), so that the host can submit work before it waits. Whoever has called
/// start() must call finish(), whatever happens between: the other ranks wait for the values.
template <class Value>
class DeviceMessages {
 public:
  using Values = RankedValues<Value, Kokkos::Cuda>;

  /// Collective, if it is the first of the communicator: all ranks agree on the transport.
  DeviceMessages(const Communicator& ranks, const Values& sent, const Values& received)
      : link_(DeviceLink::of(ranks)), sent_{sent, {}}, received_{received, {}} {
    if (transport() == Transport::nccl) return;
    for (Side* side : {&sent_, &received_})
      if (transport() == Transport::staged)
        side->staged =
            make_array<Value, Pinned>("sporos::DeviceMessages staged", side->values.message_values());
    received_.for_each_message([&](int from, Value* to, std::int64_t count) {
      ranks.prepare_receive(messages_, to, count, from, received_.owner());
    });
    sent_.for_each_message([&](int to, Value* from, std::int64_t count) {
      ranks.prepare_send(messages_, from, count, to, sent_.owner());
    });
  }
  DeviceMessages(const DeviceMessages&) = delete;
  DeviceMessages& operator=(const DeviceMessages&) = delete;
  ~DeviceMessages() { cudaStreamSynchronize(link_->stream().get()); }

  /// Sends what `space` packs, and overwrites what was received behind what reads it there.
  void start(const Kokkos::Cuda& space) {
    link_->stream().follow(space);
    if (transport() == Transport::staged) sent_.copy_staged(link_->stream(), cudaMemcpyDeviceToHost);
#ifdef SPOROS_HAVE_NCCL
    if (transport() == Transport::nccl) exchange();
#endif
  }

  /// Has `space` wait for the values of the others.
  void finish(const Kokkos::Cuda& space) {
    if (transport() != Transport::nccl) {
      link_->stream().wait();
      messages_.start();
      messages_.wait();
    }
    if (transport() == Transport::staged) received_.copy_staged(link_->stream(), cudaMemcpyHostToDevice);
    link_->stream().lead(space);
  }

  Transport transport() const { return link_->transport(); }
  /// Of pinned memory.
  std::int64_t bytes() const { return sent_.staged_bytes() + received_.staged_bytes(); }

 private:
  using Pinned = Kokkos::SharedHostPinnedSpace;

  /// The values of the messages that are sent, or received.
  ///
  ///     values    a b c | d e | f g h      of ranks 0, 1 and 2; on rank 1, d and e stay here
  ///     staged    a b c | f g h            if messages travel through the host
  struct Side {
    Values values;
    Array<Value, Pinned> staged;

    /// visit(rank, where its message leaves from or arrives, number of values)
    template <class Visit>
    void for_each_message(const Visit& visit) const {
      std::int64_t staged_at = 0;
      for (const auto& message : values.messages()) {
        Value* const at = staged.data() != nullptr ? staged.data() + staged_at
                                                   : values.values().data() + message.places.begin;
        visit(message.rank, at, message.places.size());
        staged_at += message.places.size();
      }
    }
    /// Starts to copy the messages to the host, or from there.
    void copy_staged(const SideStream& stream, cudaMemcpyKind kind) const {
      std::int64_t staged_at = 0;
      for (const auto& message : values.messages()) {
        Value* const here = values.values().data() + message.places.begin;
        Value* const there = staged.data() + staged_at;
        const bool leaves = kind == cudaMemcpyDeviceToHost;
        gpu::expect_success(cudaMemcpyAsync(leaves ? there : here, leaves ? here : there,
                                            static_cast<std::size_t>(message.places.size()) * sizeof(Value),
                                            kind, stream.get()),
                            "copying messages");
        staged_at += message.places.size();
      }
    }
    /// What keeps the memory of the messages alive.
    std::shared_ptr<const void> owner() const { return std::make_shared<Side>(*this); }
    std::int64_t staged_bytes() const { return static_cast<std::int64_t>(staged.extent(0) * sizeof(Value)); }
  };

#ifdef SPOROS_HAVE_NCCL
  void exchange() const {
    // A group that has begun ends, whatever happens in it.
    ncclResult_t first = ncclSuccess;
    const auto keep = [&](ncclResult_t code) {
      if (first == ncclSuccess) first = code;
    };
    const auto each = [&](const Side& side, const auto& call) {
      side.for_each_message([&](int rank, Value* at, std::int64_t count) {
        keep(call(at, static_cast<std::size_t>(count) * sizeof(Value), ncclUint8, rank, link_->nccl(),
                  link_->stream().get()));
      });
    };
    expect_success(ncclGroupStart(), "ncclGroupStart");
    each(received_, ncclRecv);
    each(sent_, ncclSend);
    keep(ncclGroupEnd());
    expect_success(first, "ncclSend or ncclRecv");
  }
#endif

  std::shared_ptr<const DeviceLink> link_;
  Side sent_, received_;
  RepeatedMessages messages_;
};

}  // namespace sporos::detail

#endif
