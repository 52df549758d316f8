// SPDX-License-Identifier: Apache-2.0
/// @file nccl.hpp
/// NCCL: its view of a communicator's ranks, its error codes and its types.
#pragma once

#ifdef SPOROS_HAVE_NCCL

#include <nccl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/value.hpp"
#include "../communicator.hpp"

namespace sporos::detail {

/// Throws CommError unless a function of NCCL has succeeded.
inline void expect_success(ncclResult_t code, const char* function) {
  if (code != ncclSuccess)
    throw CommError(
        text(function, " failed: ", ncclGetErrorString(code), "; NCCL_DEBUG=INFO has it print what it does"));
}

/// The NCCL type in which values of T are added; nothing if NCCL cannot add them. A complex number is added
/// as two real ones.
template <class T>
constexpr std::optional<ncclDataType_t> nccl_sum_type() {
  if constexpr (is_complex_v<T>)
    return nccl_sum_type<typename T::value_type>();
  else if constexpr (std::is_same_v<T, double>)
    return ncclFloat64;
  else if constexpr (std::is_same_v<T, float>)
    return ncclFloat32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return ncclInt64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return ncclInt32;
  else
    return std::nullopt;
}

/// The ranks of a communicator, each with its own GPU.
class NcclCommunicator {
 public:
  /// @return null if it could not be made on every rank; `code` then says why, the same on all. Collective
  static std::shared_ptr<const NcclCommunicator> connect(const Communicator& ranks, ncclResult_t& code) {
    const auto agreed = [&](ncclResult_t mine) {
      return static_cast<ncclResult_t>(ranks.max(static_cast<int>(mine)));
    };
    ncclUniqueId id{};
    code = agreed(ranks.rank() == 0 ? ncclGetUniqueId(&id) : ncclSuccess);
    if (code != ncclSuccess) return nullptr;
    ranks.broadcast(&id, 1, 0);
    const auto out = std::make_shared<NcclCommunicator>();
    code = agreed(ncclCommInitRank(&out->comm_, ranks.size(), id, ranks.rank()));
    if (code == ncclSuccess) return out;
    if (out->comm_ != nullptr) ncclCommAbort(out->comm_);
    out->comm_ = nullptr;
    return nullptr;
  }

  NcclCommunicator() = default;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() {
    if (comm_ != nullptr) ncclCommDestroy(comm_);
  }

  ncclComm_t get() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};

}  // namespace sporos::detail

#endif
