// SPDX-License-Identifier: Apache-2.0
/// @file sanitizers.hpp
/// Whether the tests run under AddressSanitizer or ThreadSanitizer, which take memory and time of their own:
/// SPOROS_TEST_SANITIZED is defined then.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPOROS_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPOROS_TEST_SANITIZED
#endif
#endif
