// SPDX-License-Identifier: Apache-2.0
/// @file resources.hpp
/// Resources: what a statement runs with, as a value: a space instance, a memory bound and scratch memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <utility>

#include "space.hpp"

namespace sporos {

/// The working memory of kernels, kept from one statement to the next.
///
/// A kernel borrows a workspace of its own type and returns it once all of its work has been submitted to the
/// space instance. The next kernel that borrows it runs on the same instance and therefore after the first.
/// Several threads may borrow at the same time; each gets a different workspace.
class Scratch {
  struct AnyNode {
    virtual ~AnyNode() = default;
    std::unique_ptr<AnyNode> next;
  };
  template <class W>
  struct Node : AnyNode {
    W workspace;
  };
  /// Workspaces of one type that are not borrowed.
  using Shelf = std::unique_ptr<AnyNode>;

 public:
  /// A borrowed workspace, returned at the end of the scope.
  template <class W>
  class Loan {
   public:
    Loan(Scratch& from, Shelf& shelf, std::unique_ptr<Node<W>> node)
        : from_(&from), shelf_(&shelf), node_(std::move(node)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (!node_) return;
      const std::lock_guard lock(from_->mutex_);
      node_->next = std::move(*shelf_);
      *shelf_ = std::move(node_);
    }
    W& operator*() const { return node_->workspace; }
    W* operator->() const { return &node_->workspace; }

   private:
    Scratch* from_;
    Shelf* shelf_;
    std::unique_ptr<Node<W>> node_;
  };

  template <class W>
  Loan<W> borrow() {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelves_[typeid(W)];
    if (!shelf) return {*this, shelf, std::make_unique<Node<W>>()};
    std::unique_ptr<Node<W>> node(static_cast<Node<W>*>(shelf.release()));
    shelf = std::move(node->next);
    return {*this, shelf, std::move(node)};
  }

  /// Frees every workspace that is not borrowed.
  void release() {
    const std::lock_guard lock(mutex_);
    for (auto& [type, shelf] : shelves_) shelf.reset();
  }

 private:
  std::mutex mutex_;
  std::map<std::type_index, Shelf> shelves_;
};

namespace detail {

/// The default instance on which statements run. It is created once, since creating one takes longer than a
/// small statement.
template <ExecutionSpace Space>
const Space& default_instance() {
  static const Space& instance = *new Space();
  return instance;
}

/// The scratch memory of the default instance, released before Kokkos is finalised.
template <ExecutionSpace Space>
Scratch& default_scratch() {
  static Scratch& scratch = []() -> Scratch& {
    auto& made = *new Scratch;
    Kokkos::push_finalize_hook([&made] { made.release(); });
    return made;
  }();
  return scratch;
}

}  // namespace detail

/// What a statement runs with: `assign(A(i, j), B(i, k) * C(k, j)).on(resources).run()`.
///
/// Copies share the scratch memory. Statements on the same instance run one after another; two threads with
/// an instance each run theirs concurrently:
///
///     const auto halves = Kokkos::Experimental::partition_space(OpenMP(), 1, 1);
///     std::thread first([&] { assign(y(i), A(i, j) * x(j)).on(halves[0]).run(); });
///     std::thread second([&] { assign(z(i), B(i, j) * x(j)).on(halves[1]).run(); });
///
/// Resources with an instance of their own must be destroyed, like every Kokkos View, before Kokkos is
/// finalised.
template <ExecutionSpace Space>
class Resources {
 public:
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

  /// The default instance of the space, without a bound on memory.
  Resources() = default;
  /// An instance of the space, such as a CUDA stream, with scratch memory of its own.
  Resources(Space instance)  // NOLINT: implicit, since most callers have an instance only
      : own_(std::in_place, Own{instance, scratch_for(instance)}) {}

  const Space& space() const { return own_ ? own_->space : detail::default_instance<Space>(); }
  Scratch& scratch() const { return own_ ? *own_->scratch : detail::default_scratch<Space>(); }

  /// The same resources with a bound on the bytes that a statement may allocate for its result and its
  /// workspaces: if `estimate` says more, the statement throws MemoryError before it changes anything.
  Resources within(std::int64_t bytes) const {
    Resources out = *this;
    out.memory_limit_ = bytes;
    return out;
  }
  std::int64_t memory_limit() const { return memory_limit_; }

 private:
  struct Own {
    Space space;
    std::shared_ptr<Scratch> scratch;
  };
  /// The scratch memory is freed only when the instance has finished all work that may use it.
  static std::shared_ptr<Scratch> scratch_for(const Space& space) {
    return {new Scratch, [space](Scratch* scratch) {
              space.fence("sporos::Scratch");
              delete scratch;
            }};
  }

  std::optional<Own> own_;
  std::int64_t memory_limit_ = unlimited;
};

}  // namespace sporos
