// SPDX-License-Identifier: Apache-2.0
/// @file machine.cpp
/// What /proc, the processor and Kokkos reveal about the machine.
#include "machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <fstream>
#include <string_view>
#include <thread>

namespace sporos::tool {
namespace {

/// The text after "KEY:" in a file of /proc; empty if there is none.
std::string line_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

void add_name(std::string& names, bool is_there, std::string_view name) {
  if (is_there) names += (names.empty() ? "" : ", ") + std::string(name);
}

}  // namespace

std::string processor_name() {
  for (const char* const key : {"model name", "Model", "Hardware"})  // x86, then ARM
    if (const std::string name = line_of("/proc/cpuinfo", key); !name.empty()) return name;
  return "";
}

std::string processor_extensions() {
  std::string names;
#if defined(__x86_64__)
  add_name(names, __builtin_cpu_supports("sse4.2"), "SSE4.2");
  add_name(names, __builtin_cpu_supports("avx"), "AVX");
  add_name(names, __builtin_cpu_supports("avx2"), "AVX2");
  add_name(names, __builtin_cpu_supports("fma"), "FMA");
  add_name(names, __builtin_cpu_supports("avx512f"), "AVX-512F");
  add_name(names, __builtin_cpu_supports("avx512dq"), "AVX-512DQ");
  add_name(names, __builtin_cpu_supports("avx512bw"), "AVX-512BW");
  add_name(names, __builtin_cpu_supports("avx512vl"), "AVX-512VL");
#endif
  return names;
}

std::string compiled_extensions() {
  std::string names;
#if defined(__SSE4_2__)
  add_name(names, true, "SSE4.2");
#endif
#if defined(__AVX__)
  add_name(names, true, "AVX");
#endif
#if defined(__AVX2__)
  add_name(names, true, "AVX2");
#endif
#if defined(__FMA__)
  add_name(names, true, "FMA");
#endif
#if defined(__AVX512F__)
  add_name(names, true, "AVX-512F");
#endif
#if defined(__AVX512DQ__)
  add_name(names, true, "AVX-512DQ");
#endif
#if defined(__AVX512BW__)
  add_name(names, true, "AVX-512BW");
#endif
#if defined(__AVX512VL__)
  add_name(names, true, "AVX-512VL");
#endif
#if defined(__ARM_NEON)
  add_name(names, true, "NEON");
#endif
#if defined(__ARM_FEATURE_SVE)
  add_name(names, true, "SVE");
#endif
  return names;
}

std::int64_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::thread::hardware_concurrency();
}

std::int64_t memory_bytes() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::int64_t>(pages) * page : 0;
}

std::int64_t available_memory_bytes() {
  const std::string kibibytes = line_of("/proc/meminfo", "MemAvailable");
  return kibibytes.empty() ? 0 : std::strtoll(kibibytes.c_str(), nullptr, 10) * 1024;
}

std::string device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  return Kokkos::Cuda().cuda_device_prop().name;
#else
  return "";
#endif
}

}  // namespace sporos::tool
