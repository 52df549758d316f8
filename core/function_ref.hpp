// SPDX-License-Identifier: Apache-2.0
/// @file function_ref.hpp
/// FunctionRef: a type-erased callable, for functions that are compiled once rather than for each callable.
#pragma once

#include <utility>

namespace sporos::detail {

/// Refers to a callable, which must outlive it; copies nothing and allocates nothing.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  FunctionRef(const F& f) : f_(&f), call_(&call<F>) {}  // NOLINT: implicit, so that callers pass a lambda

  R operator()(Args... args) const { return call_(f_, std::forward<Args>(args)...); }

 private:
  template <class F>
  static R call(const void* f, Args... args) {
    return (*static_cast<const F*>(f))(std::forward<Args>(args)...);
  }

  const void* f_;
  R (*call_)(const void* f, Args... args);
};

}  // namespace sporos::detail
