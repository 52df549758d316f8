// SPDX-License-Identifier: Apache-2.0
/// @file mpi.hpp
/// MPI: its header, lifetime, error codes and types.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef SPOROS_HAVE_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#include "../core/error.hpp"
#include "../core/space.hpp"
#include "../core/value.hpp"

namespace sporos {

/// Initialises MPI with `MPI_THREAD_FUNNELED` and finalises it at the end of the scope, unless the caller has
/// already initialised it. Without MPI it does nothing.
///
///     MpiScope mpi(argc, argv);        // first, so that it outlives Kokkos and all tensors
///     ScopeGuard guard(argc, argv);
class MpiScope {
 public:
  MpiScope([[maybe_unused]] int& argc, [[maybe_unused]] char**& argv) {
#ifdef SPOROS_HAVE_MPI
    int running = 0;
    MPI_Initialized(&running);
    if (running) return;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    owner_ = true;
#endif
  }
  ~MpiScope() {
#ifdef SPOROS_HAVE_MPI
    int finished = 0;
    MPI_Finalized(&finished);
    if (owner_ && !finished) MPI_Finalize();
#endif
  }
  MpiScope(const MpiScope&) = delete;
  MpiScope& operator=(const MpiScope&) = delete;

 private:
  [[maybe_unused]] bool owner_ = false;
};

/// A type that can be sent as its bytes.
template <class T>
concept Sendable = std::is_trivially_copyable_v<T>;

namespace detail {

/// Cuts [0, count) into pieces that an `int` can count, and calls f(first, number) for each.
template <class F>
void for_each_piece(std::int64_t count, std::int64_t largest, const F& f) {
  for (std::int64_t at = 0; at < count; at += largest) f(at, static_cast<int>(std::min(largest, count - at)));
}

#ifdef SPOROS_HAVE_MPI

/// Throws CommError unless an MPI function has succeeded.
inline void expect_success(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, reason, &length);
  throw CommError(text(function, " failed: ", std::string_view(reason, static_cast<std::size_t>(length))));
}

/// The MPI type in which values of T are added and compared.
template <class T>
MPI_Datatype reduced_type() {
  if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, Kokkos::complex<double>>)
    return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::is_same_v<T, Kokkos::complex<float>>)
    return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1   ? MPI_INT8_T
           : sizeof(T) == 2 ? MPI_INT16_T
           : sizeof(T) == 4 ? MPI_INT32_T
                            : MPI_INT64_T;
  else
    return sizeof(T) == 1   ? MPI_UINT8_T
           : sizeof(T) == 2 ? MPI_UINT16_T
           : sizeof(T) == 4 ? MPI_UINT32_T
                            : MPI_UINT64_T;
}

/// An MPI type of `bytes` bytes, freed at the end of the scope.
class ByteType {
 public:
  explicit ByteType(std::size_t bytes) {
    expect_success(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_), "MPI_Type_contiguous");
    expect_success(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~ByteType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  ByteType(ByteType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  ByteType& operator=(ByteType&&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

#endif

}  // namespace detail

}  // namespace sporos
