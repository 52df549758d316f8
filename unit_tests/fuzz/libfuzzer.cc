// SPDX-License-Identifier: Apache-2.0
/// @file libfuzzer.cc
/// The entry points of libFuzzer for the target that SPOROS_FUZZ_TARGET names; scripts/fuzz compiles it.
#include "targets.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
  std::atexit([] { Kokkos::finalize(); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  sporos_fuzz::SPOROS_FUZZ_TARGET({reinterpret_cast<const char*>(bytes), count});
  return 0;
}
