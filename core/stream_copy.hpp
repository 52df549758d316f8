// SPDX-License-Identifier: Apache-2.0
/// @file stream_copy.hpp
/// Copies that bypass the caches, for results too large to stay in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sporos::detail {

/// Copies from[0 .. count) to to[0 .. count) with stores that do not read the target first, where the
/// processor has them. Before another thread reads the copy, call finish_stream_copies() or leave a
/// StreamCopies scope.
template <class T>
void stream_copy(const T* from, std::int64_t count, T* to) {
  static_assert(std::is_trivially_copyable_v<T>);
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  const auto* source = reinterpret_cast<const std::byte*>(from);
  auto* target = reinterpret_cast<std::byte*>(to);
  std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(target) % line) % line);
  std::memcpy(target, source, head);
  source += head, target += head, bytes -= head;
  for (; bytes >= line; bytes -= line, source += line, target += line) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target), _mm512_loadu_si512(source));
#else
    for (std::size_t part = 0; part < line; part += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + part)));
#endif
  }
  std::memcpy(target, source, bytes);
#else
  std::copy_n(from, count, to);
#endif
}

/// Orders stream copies before later writes: a thread that sees such a write also sees the copies.
inline void finish_stream_copies() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Finishes the stream copies made in a scope when the scope is left, also by an exception.
class StreamCopies {
 public:
  StreamCopies() = default;
  ~StreamCopies() { finish_stream_copies(); }
  StreamCopies(const StreamCopies&) = delete;
  StreamCopies& operator=(const StreamCopies&) = delete;
};

}  // namespace sporos::detail
