// SPDX-License-Identifier: Apache-2.0
/// @file transport.hpp
/// How values in GPUs' memories travel between ranks: by NCCL or by MPI, how this is chosen, and on which
/// stream.
#pragma once

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../kernels/cuda/launch.hpp"
#include "../agree.hpp"
#include "../communicator.hpp"
#include "nccl.hpp"

namespace sporos {

/// How values in GPUs' memories travel between ranks.
enum class Transport {
  staged,  ///< by MPI, through pinned memory of the host
  mpi,     ///< by MPI from GPU to GPU, if the running Open MPI was built for CUDA
  nccl     ///< by NCCL from GPU to GPU, if Sporos was built with it and every rank has its own GPU
};

inline constexpr std::array<std::string_view, 3> transport_names{"staged", "mpi", "nccl"};
constexpr std::string_view to_string(Transport transport) {
  return transport_names[static_cast<std::size_t>(transport)];
}

namespace detail {

/// Identifies a GPU, on any host.
using DeviceId = std::array<char, 16>;

/// This rank's GPU.
inline DeviceId device_id() {
  cudaDeviceProp device{};
  gpu::expect_success(cudaGetDeviceProperties(&device, Kokkos::Cuda().cuda_device()),
                      "cudaGetDeviceProperties");
  DeviceId out{};
  std::memcpy(out.data(), device.uuid.bytes, out.size());
  return out;
}

/// A CUDA stream of the highest priority, with an event for each direction: its work runs alongside the
/// kernels of a space instance, and gets multiprocessors first.
class SideStream {
 public:
  SideStream() {
    int least = 0, greatest = 0;
    gpu::expect_success(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                        "cudaDeviceGetStreamPriorityRange");
    gpu::expect_success(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
                        "cudaStreamCreateWithPriority");
    for (cudaEvent_t* event : {&before_, &after_})
      gpu::expect_success(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate");
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() {
    for (cudaEvent_t event : {before_, after_})
      if (event != nullptr) cudaEventDestroy(event);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  cudaStream_t get() const { return stream_; }

  /// Makes later work on this stream run after all that `space` has been given so far.
  void follow(const Kokkos::Cuda& space) const { order(space.cuda_stream(), stream_, before_); }
  /// Makes later work on `space` run after all that this stream has been given so far.
  void lead(const Kokkos::Cuda& space) const { order(stream_, space.cuda_stream(), after_); }
  /// Returns when all work on this stream is done.
  void wait() const { gpu::expect_success(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  static void order(cudaStream_t first, cudaStream_t second, cudaEvent_t event) {
    gpu::expect_success(cudaEventRecord(event, first), "cudaEventRecord");
    gpu::expect_success(cudaStreamWaitEvent(second, event, 0), "cudaStreamWaitEvent");
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

/// The connection between the GPUs of a communicator's ranks.
class DeviceLink {
 public:
  /// Collective.
  /// @param asked  the transport that must be used; if empty, the best one available
  /// @param old    the link that this one replaces, if any
  /// @throws StateError, on all ranks, if the requested transport is not available; CommError if ranks
  /// request different ones
  static std::shared_ptr<const DeviceLink> make(const Communicator& ranks, std::optional<Transport> asked,
                                                const std::shared_ptr<const DeviceLink>& old = nullptr) {
    auto out = std::make_shared<DeviceLink>();
    std::vector<DeviceId> devices;
    jointly(ranks, [&] {
      // Streams and NCCL's communicators belong to the device that is current.
      gpu::expect_success(cudaSetDevice(Kokkos::Cuda().cuda_device()), "cudaSetDevice");
      out->stream_ = std::make_unique<SideStream>();
      const DeviceId mine = device_id();
      const auto choice = static_cast<std::uint64_t>(asked ? static_cast<int>(*asked) + 1 : 0);
      agree(ranks, Signature("the transport between GPUs").mix(choice),
            text("the transport between GPUs", asked ? ", which is to be " : "",
                 asked ? to_string(*asked) : ""));
      devices = ranks.all(mine);
    });
    // From here on, all ranks know the same and do the same.
    std::string lacks = out->connect(ranks, std::move(devices), asked, old);
    const bool mpi_reaches = ranks.min(Communicator::reaches<Kokkos::CudaSpace>() ? 1 : 0) == 1;
    if (asked == Transport::mpi && !mpi_reaches)
      lacks = "the MPI library that runs was not built for CUDA, or does not say so";
    if (!lacks.empty() && asked)
      throw AgreedError<StateError>(text("values of GPUs cannot travel by ", to_string(*asked), ": ", lacks));
    if (asked)
      out->transport_ = *asked;
    else if (out->nccl_)
      out->transport_ = Transport::nccl;
    else if (mpi_reaches)
      out->transport_ = Transport::mpi;
    return out;
  }

  /// The link of a communicator. It is made when it is first needed, which is collective, with the transport
  /// that SPOROS_TRANSPORT names if it is set.
  /// @throws StateError, on all ranks, if SPOROS_TRANSPORT names a transport that is not available
  static std::shared_ptr<const DeviceLink> of(const Communicator& ranks) {
    auto& kept = ranks.attachment();
    if (!kept) kept = jointly(ranks, [&] { return make(ranks, from_environment()); });
    return std::static_pointer_cast<const DeviceLink>(kept);
  }

  Transport transport() const { return transport_; }
  const SideStream& stream() const { return *stream_; }

#ifdef SPOROS_HAVE_NCCL
  /// Only exists if the transport is NCCL.
  ncclComm_t nccl() const { return nccl_->get(); }
#endif

  /// Whether values of a type can be added from GPU to GPU.
  template <class Value>
  bool adds() const {
#ifdef SPOROS_HAVE_NCCL
    return transport_ == Transport::nccl && nccl_sum_type<Value>().has_value();
#else
    return false;
#endif
  }

  /// values[q] = the sum of all ranks' values[q], computed after all that `space` has been given so far and
  /// before its later work. Collective; requires `adds<Value>()`.
  template <class Value>
  void sum([[maybe_unused]] const Kokkos::Cuda& space,
           [[maybe_unused]] const Array<Value, Kokkos::CudaSpace>& values) const {
#ifdef SPOROS_HAVE_NCCL
    if constexpr (nccl_sum_type<Value>().has_value()) {
      stream_->follow(space);
      expect_success(
          ncclAllReduce(values.data(), values.data(), values.extent(0) * (is_complex_v<Value> ? 2 : 1),
                        *nccl_sum_type<Value>(), ncclSum, nccl(), stream_->get()),
          "ncclAllReduce");
      stream_->lead(space);
    }
#endif
  }

 private:
  static std::optional<Transport> from_environment() {
    const char* const given = std::getenv("SPOROS_TRANSPORT");
    if (given == nullptr || *given == '\0') return std::nullopt;
    const auto at = std::find(transport_names.begin(), transport_names.end(), std::string_view(given));
    if (at == transport_names.end())
      throw StateError(text("SPOROS_TRANSPORT is '", given, "': it takes staged, mpi or nccl"));
    return static_cast<Transport>(at - transport_names.begin());
  }

  /// Makes NCCL's communicator if it is wanted and possible.
  /// @return why there is none, if it was requested
  std::string connect([[maybe_unused]] const Communicator& ranks,
                      [[maybe_unused]] std::vector<DeviceId> devices, std::optional<Transport> asked,
                      [[maybe_unused]] const std::shared_ptr<const DeviceLink>& old) {
#ifdef SPOROS_HAVE_NCCL
    if (old) nccl_ = old->nccl_;
    if (nccl_ || (asked ? *asked != Transport::nccl : ranks.size() == 1)) return {};
    std::sort(devices.begin(), devices.end());
    if (std::adjacent_find(devices.begin(), devices.end()) != devices.end())
      return "two ranks share a GPU, and NCCL wants one for each";
    ncclResult_t code = ncclSuccess;
    nccl_ = NcclCommunicator::connect(ranks, code);
    if (!nccl_) return text("NCCL could not be started: ", ncclGetErrorString(code));
    return {};
#else
    return asked == Transport::nccl ? "Sporos was built without NCCL" : "";
#endif
  }

  Transport transport_ = Transport::staged;
  std::unique_ptr<SideStream> stream_;
#ifdef SPOROS_HAVE_NCCL
  std::shared_ptr<const NcclCommunicator> nccl_;
#else
  std::nullptr_t nccl_ = nullptr;
#endif
};

}  // namespace detail

/// How values in the memories of the ranks' GPUs travel: by NCCL if it can be used, otherwise by MPI from GPU
/// to GPU if that can be used, otherwise staged; or as SPOROS_TRANSPORT=staged, mpi or nccl requests.
/// Collective.
/// @throws StateError, on all ranks, if SPOROS_TRANSPORT names a transport that is not available
inline Transport transport(const Communicator& ranks) { return detail::DeviceLink::of(ranks)->transport(); }

/// Makes plans created from now on use a transport. Collective.
/// @throws StateError, on all ranks, if it is not available; then nothing changes
inline void use_transport(const Communicator& ranks, Transport transport) {
  auto& kept = ranks.attachment();
  kept = detail::DeviceLink::make(ranks, transport, std::static_pointer_cast<const detail::DeviceLink>(kept));
}

}  // namespace sporos

#endif
