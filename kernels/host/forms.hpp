// SPDX-License-Identifier: Apache-2.0
/// @file forms.hpp
/// Kernels that exist in several forms; which is fastest depends on the processor.
///
/// Two processors with the same instructions may take very different times for them: gather instructions are
/// fast on some and slow on others. So all forms that can be compiled are compiled, and the first use
/// measures them on a problem that takes well under a millisecond. Where a small problem would not be
/// representative, the maker of the processor decides instead. The environment variable SPOROS_<KERNEL>_FORM
/// (SPOROS_SPMV_PREFETCH for the distance of SpMV's prefetching) names a form to use, for example to compare
/// results of two machines bit by bit.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "../../core/error.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace sporos::detail {

/// A form of a kernel: its name in the environment variable, and whether it was compiled.
template <class Form>
struct NamedForm {
  Form form;
  std::string_view name;
  bool is_compiled;
};

/// Whether AMD made this processor. Asked once, because the answer takes microseconds on a virtual machine.
inline bool is_made_by_amd() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool is_amd = [] {
    unsigned highest = 0, vendor[3] = {};
    if (__get_cpuid(0, &highest, &vendor[0], &vendor[2], &vendor[1]) == 0) return false;
    return std::string_view(reinterpret_cast<const char*>(vendor), sizeof(vendor)) == "AuthenticAMD";
  }();
  return is_amd;
#else
  return false;
#endif
}

/// Whether gather instructions are slower than scalar loads from the caches, as on all AMD processors so far.
inline bool gathers_slowly() { return is_made_by_amd(); }

/// Whether gather instructions keep more loads from memory in flight than scalar loads, however slow they are
/// in the caches. On AMD's processors they do from Zen 4 on, the first with AVX-512: on Zen 3, a matrix of 16
/// million nonzeros in no order takes 85 ms by gathers of four and 46 by scalar loads.
inline bool gathers_far_fast() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has_avx512 = [] {
    constexpr unsigned features = 7, avx512f = 1u << 16;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(features, 0, &a, &b, &c, &d) != 0 && (b & avx512f) != 0;
  }();
  return !is_made_by_amd() || has_avx512;
#else
  return false;
#endif
}

/// Whether AMD made this processor, and it is a Zen 5 or later.
inline bool is_zen_5_or_later() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool is_zen_5 = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!is_made_by_amd() || __get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    constexpr unsigned zen_5 = 0x1a;
    return (a >> 8 & 0xf) + (a >> 20 & 0xff) >= zen_5;  // the family
  }();
  return is_zen_5;
#else
  return false;
#endif
}

/// Whether loads from memory keep up with the processor only if they are prefetched further ahead than 4 KiB.
inline bool prefetches_further() { return is_zen_5_or_later(); }

/// The form that an environment variable names, or null.
/// @throws RangeError if it names none, or one that was not compiled
template <class Form, std::size_t Count>
const NamedForm<Form>* form_from_environment(const char* variable,
                                             const std::array<NamedForm<Form>, Count>& forms) {
  const char* const value = std::getenv(variable);
  if (!value || !*value) return nullptr;
  std::string known;
  for (const auto& form : forms) {
    if (!form.is_compiled) continue;
    if (form.name == value) return &form;
    known += text(known.empty() ? "" : ", ", form.name);
  }
  throw RangeError(text(variable, "=", value, ": this program has the forms ", known));
}

/// The time of each form: the shortest of its runs. The forms run in turn for 0.3 ms, at least five times
/// each; forms that were not compiled get infinity.
template <class Form, std::size_t Count, class Run>
std::array<double, Count> seconds_of_forms(const std::array<NamedForm<Form>, Count>& forms, const Run& run) {
  using Clock = std::chrono::steady_clock;
  constexpr int fewest_rounds = 5;
  const auto end = Clock::now() + std::chrono::microseconds(300);
  std::array<double, Count> best;
  best.fill(std::numeric_limits<double>::infinity());
  for (int round = 0; round < fewest_rounds || Clock::now() < end; ++round)
    for (std::size_t at = 0; at < Count; ++at) {
      if (!forms[at].is_compiled) continue;
      const auto start = Clock::now();
      run(forms[at].form);
      best[at] = std::min(best[at], std::chrono::duration<double>(Clock::now() - start).count());
    }
  return best;
}

}  // namespace sporos::detail
