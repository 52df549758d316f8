// SPDX-License-Identifier: Apache-2.0
/// @file transport.hpp
/// How values in the memory of GPUs travel between ranks: by NCCL or by MPI, which of them, and on which
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

/// How values in the memory of GPUs travel between ranks.
enum class Transport {
  staged,  ///< by MPI, from and to pinned memory of the host
  mpi,     ///< by MPI from GPU to GPU, where the Open MPI that runs was built for CUDA
  nccl     ///< by NCCL from GPU to GPU, where Sporos was built with it and every rank has a GPU of its own
};

inline constexpr std::array<std::string_view, 3> transport_names{"staged", "mpi", "nccl"};
constexpr std::string_view to_string(Transport transport) {
  return transport_names[static_cast<std::size_t>(transport)];
}

namespace detail {

/// What names a GPU, on any host.
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

/// A CUDA stream of the highest priority and an event for each direction: what is submitted to the stream
/// runs beside the kernels of a space instance, and gets multiprocessors before them.
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

  /// What follows on this stream runs behind what `space` has been given so far.
  void follow(const Kokkos::Cuda& space) const { order(space.cuda_stream(), stream_, before_); }
  /// What `space` is given from now on runs behind what this stream has been given so far.
  void lead(const Kokkos::Cuda& space) const { order(stream_, space.cuda_stream(), after_); }
  /// Returns when everything on this stream is done.
  void wait() const { gpu::expect_success(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  static void order(cudaStream_t first, cudaStream_t second, cudaEvent_t event) {
    gpu::expect_success(cudaEventRecord(event, first), "cudaEventRecord");
    gpu::expect_success(cudaStreamWaitEvent(second, event, 0), "cudaStreamWaitEvent");
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

/// The way between the GPUs of a communicator's ranks.
class DeviceLink {
 public:
  /// Collective.
  /// @param asked  the transport that must be used; without one, the best that is there
  /// @param old    the link that this one replaces, if there is one
  /// @throws StateError, on all ranks, if what was asked for is not there; CommError if ranks ask for
  /// different transports
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
    // From here on all ranks know the same, and do the same.
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

  /// That of a communicator: made when it is first needed, then collective, by SPOROS_TRANSPORT where that is
  /// set.
  /// @throws StateError, on all ranks, if SPOROS_TRANSPORT names nothing that is there
  static std::shared_ptr<const DeviceLink> of(const Communicator& ranks) {
    auto& kept = ranks.attachment();
    if (!kept) kept = jointly(ranks, [&] { return make(ranks, from_environment()); });
    return std::static_pointer_cast<const DeviceLink>(kept);
  }

  Transport transport() const { return transport_; }
  const SideStream& stream() const { return *stream_; }

#ifdef SPOROS_HAVE_NCCL
  /// There if the transport is NCCL.
  ncclComm_t nccl() const { return nccl_->get(); }
#endif

  /// Whether values of a type are added from GPU to GPU.
  template <class Value>
  bool adds() const {
#ifdef SPOROS_HAVE_NCCL
    return transport_ == Transport::nccl && nccl_sum_type<Value>().has_value();
#else
    return false;
#endif
  }

  /// values[q] = the sum of all ranks' values[q], behind what `space` has been given so far; what follows on
  /// `space` finds the sums. Collective; only where `adds<Value>()`.
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

  /// Makes NCCL's communicator if it is wanted and can be.
  /// @return why there is none, if it was asked for
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

/// How values in the memory of the ranks' GPUs travel: by NCCL if it can be used, else by MPI from GPU to GPU
/// if that can be used, else staged; or what SPOROS_TRANSPORT=staged, mpi or nccl asks for. Collective.
/// @throws StateError, on all ranks, if SPOROS_TRANSPORT names nothing that is there
inline Transport transport(const Communicator& ranks) { return detail::DeviceLink::of(ranks)->transport(); }

/// Has plans that are made from now on use a transport. Collective.
/// @throws StateError, on all ranks, if it is not there; then nothing changes
inline void use_transport(const Communicator& ranks, Transport transport) {
  auto& kept = ranks.attachment();
  kept = detail::DeviceLink::make(ranks, transport, std::static_pointer_cast<const detail::DeviceLink>(kept));
}

}  // namespace sporos

#endif
