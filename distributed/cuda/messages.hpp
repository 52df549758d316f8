// SPDX-License-Identifier: Apache-2.0
/// @file messages.hpp
/// The messages of an exchange between GPUs' memories, by any transport.
#pragma once

#include "transport.hpp"

#ifdef KOKKOS_ENABLE_CUDA

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../ranked_values.hpp"

namespace sporos::detail {

/// Packs rows, each by `lanes` neighbouring threads, a power of 2.
template <class Value>
__global__ void pack_rows_kernel(const __grid_constant__ PackRows<Value> pack, std::int64_t rows,
                                 int log_lanes) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = thread >> log_lanes, lanes = std::int64_t{1} << log_lanes;
  if (row < rows) pack.some(row, thread & (lanes - 1), lanes);
}

/// The messages of an exchange between GPUs' memories. They are packed and sent on a stream of their own,
/// alongside what the space instance computes in the meantime, and the host waits only if MPI carries them:
///
///                  start()                                finish()
///     space        │ what is submitted meanwhile             │ what reads the values
///     nccl         └─ pack, send and receive ────────────────┤
///     staged       └─ pack, copy to the host ─┐    ┌─ copy from the host ─┤
///     MPI                                     └────┘
///
/// MPI's messages are sent in finish(), so that the host can submit work before it waits. Whoever calls
/// start() must call finish(), whatever happens in between: the other ranks wait for the values.
template <class Value>
class DeviceMessages {
 public:
  using Values = RankedValues<Value, Kokkos::Cuda>;

  /// Collective if it is the communicator's first: all ranks agree on the transport.
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

  /// Packs rows and sends them, after all that `space` has been given so far: the work that computes their
  /// values, and the work that reads the values received last.
  void start(const Kokkos::Cuda& space, const PackRows<Value>& pack, std::int64_t rows) {
    const SideStream& stream = link_->stream();
    stream.follow(space);
    start_packing(pack, rows);
    const Bounds &from = sent_.values.own(), &to = received_.values.own();
    if (from.size() > 0)
      copy(received_.values.values().data() + to.begin, sent_.values.values().data() + from.begin,
           from.size(), cudaMemcpyDeviceToDevice, stream);
    if (transport() == Transport::staged) sent_.copy_staged(stream, cudaMemcpyDeviceToHost);
#ifdef SPOROS_HAVE_NCCL
    if (transport() == Transport::nccl) exchange();
#endif
  }

  /// Makes `space` wait for the values of the other ranks.
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
  /// The bytes of pinned memory.
  std::int64_t bytes() const { return sent_.staged_bytes() + received_.staged_bytes(); }

 private:
  using Pinned = Kokkos::SharedHostPinnedSpace;

  static void copy(Value* to, const Value* from, std::int64_t count, cudaMemcpyKind kind,
                   const SideStream& stream) {
    gpu::expect_success(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(Value), kind, stream.get()),
        "cudaMemcpyAsync");
  }

  /// The values of the messages in one direction.
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
    /// Starts to copy the messages to or from the host.
    void copy_staged(const SideStream& stream, cudaMemcpyKind kind) const {
      std::int64_t staged_at = 0;
      for (const auto& message : values.messages()) {
        Value* const here = values.values().data() + message.places.begin;
        Value* const there = staged.data() + staged_at;
        const bool leaves = kind == cudaMemcpyDeviceToHost;
        copy(leaves ? there : here, leaves ? here : there, message.places.size(), kind, stream);
        staged_at += message.places.size();
      }
    }
    /// Keeps the memory of the messages alive.
    std::shared_ptr<const void> owner() const { return std::make_shared<Side>(*this); }
    std::int64_t staged_bytes() const { return static_cast<std::int64_t>(staged.extent(0) * sizeof(Value)); }
  };

  void start_packing(const PackRows<Value>& pack, std::int64_t rows) const {
    if (rows == 0 || pack.width == 0) return;
    constexpr int threads = 256, most_lanes = 5;  // a warp
    int log_lanes = 0;
    while (log_lanes < most_lanes && (std::int64_t{1} << log_lanes) < pack.width) ++log_lanes;
    const gpu::Grid grid(gpu::ceil_div(rows << log_lanes, threads));
    pack_rows_kernel<<<grid.size, threads, 0, link_->stream().get()>>>(pack, rows, log_lanes);
    gpu::expect_success(cudaGetLastError(), "sporos::pack_rows");
  }

#ifdef SPOROS_HAVE_NCCL
  void exchange() const {
    // A group that has begun must be ended, whatever happens in it.
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
