// SPDX-License-Identifier: Apache-2.0
/// @file communicator.hpp
/// Communicator: the processes that share distributed tensors, and the messages that they exchange.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/space.hpp"
#include "../core/value.hpp"
#include "mpi.hpp"

namespace sporos {

/// Messages in flight. They keep the buffers that they refer to alive, and are waited for at the latest when
/// this object ends.
class Requests {
 public:
  Requests() = default;
  Requests(Requests&& other) noexcept = default;
  Requests& operator=(Requests&&) = delete;
  ~Requests() { wait_all(); }

  /// Returns when every message has arrived, or has left its buffer.
  void wait() {
    if (const int code = wait_all(); code != 0) {
#ifdef SPOROS_HAVE_MPI
      detail::expect_success(code, "MPI_Waitall");
#endif
    }
  }
  /// The number of messages that have not been waited for.
  std::size_t size() const {
#ifdef SPOROS_HAVE_MPI
    return requests_.size();
#else
    return 0;
#endif
  }

 private:
  friend class Communicator;

  int wait_all() {
    int code = 0;
#ifdef SPOROS_HAVE_MPI
    if (!requests_.empty())
      code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
#endif
    buffers_.clear();
    return code;
  }

#ifdef SPOROS_HAVE_MPI
  std::vector<MPI_Request> requests_;
#endif
  std::vector<std::shared_ptr<const void>> buffers_;
};

/// Messages that are sent repeatedly from the same buffers, which they keep alive.
class RepeatedMessages {
 public:
  RepeatedMessages() = default;
  RepeatedMessages(RepeatedMessages&& other) noexcept = default;
  RepeatedMessages& operator=(RepeatedMessages&&) = delete;
  ~RepeatedMessages() {
#ifdef SPOROS_HAVE_MPI
    if (under_way_) complete();
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
#endif
  }

  /// Starts all messages, receives before sends. Any that a failure left in flight are completed first.
  void start() {
#ifdef SPOROS_HAVE_MPI
    if (requests_.empty()) return;
    wait();
    detail::expect_success(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()),
                           "MPI_Startall");
    under_way_ = true;
#endif
  }
  /// Returns when every message has arrived, or has left its buffer.
  void wait() {
#ifdef SPOROS_HAVE_MPI
    if (under_way_) detail::expect_success(complete(), "MPI_Waitall");
#endif
  }

 private:
  friend class Communicator;

  std::vector<std::shared_ptr<const void>> buffers_;
#ifdef SPOROS_HAVE_MPI
  int complete() {
    under_way_ = false;
    return MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  std::vector<MPI_Request> requests_;
  bool under_way_ = false;
#endif
};

/// A set of processes, each with a rank from 0 to size() - 1.
///
///     MpiScope mpi(argc, argv);
///     const Communicator world = Communicator::world();
///     const Communicator half(some_mpi_comm);                   // any communicator of the caller
///
/// The caller's communicator is duplicated, so that messages of Sporos never mix with the caller's. The
/// original is neither changed nor freed. Copies share the duplicate, which is freed with the last of them.
/// Creating one is collective: create it once and keep it.
///
/// Without MPI there is one process, and the same code runs on it.
///
/// Functions are collective unless they say otherwise, and take any counts: those beyond 2^31 are sent in
/// pieces. They do not check what only other ranks know; the functions of distributed/ that users call agree
/// on errors first (agree.hpp).
class Communicator {
 public:
  /// This process alone. Needs no MPI.
  Communicator() : state_(std::make_shared<State>()) {}

#ifdef SPOROS_HAVE_MPI
  /// The processes of an MPI communicator; collective over them.
  /// @throws StateError if MPI is not running, or for MPI_COMM_NULL
  explicit Communicator(MPI_Comm given) : state_(std::make_shared<State>()) {
    int running = 0, finished = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&finished);
    if (!running || finished)
      throw StateError(
          "MPI is not running: begin main with `sporos::MpiScope mpi(argc, argv);` (or MPI_Init)");
    if (given == MPI_COMM_NULL)
      throw StateError("MPI_COMM_NULL has no processes: this one does not belong to the communicator");
    detail::expect_success(MPI_Comm_dup(given, &state_->comm), "MPI_Comm_dup");
    state_->adopt();
  }
  /// The duplicate, for MPI calls that Sporos does not make.
  MPI_Comm mpi() const { return state_->comm; }
#endif

  /// All processes of the program; if MPI is not running, only this process.
  static Communicator world() {
#ifdef SPOROS_HAVE_MPI
    int running = 0;
    MPI_Initialized(&running);
    if (running) return Communicator(MPI_COMM_WORLD);
#endif
    return {};
  }

  /// Whether messages can be sent from and received into a memory space: one that the host can read, or the
  /// memory of GPUs if the running Open MPI was built for CUDA.
  template <class MemorySpace>
  static bool reaches() {
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) return true;
#if defined(KOKKOS_ENABLE_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT)
    if constexpr (std::is_same_v<MemorySpace, Kokkos::CudaSpace>) return MPIX_Query_cuda_support() == 1;
#endif
    return false;
  }

  int rank() const { return state_->rank; }
  int size() const { return state_->size; }
  bool operator==(const Communicator& other) const { return state_ == other.state_; }

  /// A number that differs at each call, and is the same on all ranks if they call this equally often.
  std::int64_t next_number() const { return ++state_->number; }

  /// An object made for these processes when it is first needed, and kept with the communicator: the
  /// connection between their GPUs (cuda/transport.hpp). Not collective.
  std::shared_ptr<const void>& attachment() const { return state_->attachment; }

  /// The processes that give the same color, ordered by `key`, then by their rank here.
  /// @throws StateError if the color is MPI_UNDEFINED
  Communicator split([[maybe_unused]] int color, [[maybe_unused]] int key = 0) const {
    Communicator out;
#ifdef SPOROS_HAVE_MPI
    if (has_mpi()) {
      detail::expect_success(MPI_Comm_split(state_->comm, color, key, &out.state_->comm), "MPI_Comm_split");
      if (out.state_->comm == MPI_COMM_NULL)
        throw StateError("this process gave no color, so it has no part of the communicator");
      out.state_->adopt();
    }
#endif
    return out;
  }

  void barrier() const {
#ifdef SPOROS_HAVE_MPI
    if (has_mpi()) detail::expect_success(MPI_Barrier(state_->comm), "MPI_Barrier");
#endif
  }

  /// Copies data[0, count) from rank `root` to every rank.
  template <Sendable T>
  void broadcast([[maybe_unused]] T* data, [[maybe_unused]] std::int64_t count,
                 [[maybe_unused]] int root) const {
#ifdef SPOROS_HAVE_MPI
    if (size() == 1) return;
    const detail::ByteType type(sizeof(T));
    detail::for_each_piece(count, state_->largest_count, [&](std::int64_t at, int number) {
      detail::expect_success(MPI_Bcast(data + at, number, type, root, state_->comm), "MPI_Bcast");
    });
#endif
  }

  /// data[q] = the sum, minimum or maximum of all ranks' data[q], on every rank.
  template <class T>
  void sum(T* data, std::int64_t count) const {
    reduce(data, count, Operation::sum);
  }
  template <class T>
    requires(!is_complex_v<T>)
  void min(T* data, std::int64_t count) const {
    reduce(data, count, Operation::min);
  }
  template <class T>
    requires(!is_complex_v<T>)
  void max(T* data, std::int64_t count) const {
    reduce(data, count, Operation::max);
  }
  template <class T>
  T sum(T mine) const {
    sum(&mine, 1);
    return mine;
  }
  template <class T>
  T min(T mine) const {
    min(&mine, 1);
    return mine;
  }
  template <class T>
  T max(T mine) const {
    max(&mine, 1);
    return mine;
  }

  /// The values of all ranks, in the order of ranks.
  template <Sendable T>
  std::vector<T> all(const T& mine) const {
    std::vector<T> out(static_cast<std::size_t>(size()), mine);
#ifdef SPOROS_HAVE_MPI
    if (size() > 1) {
      const detail::ByteType type(sizeof(T));
      detail::expect_success(MPI_Allgather(&mine, 1, type, out.data(), 1, type, state_->comm),
                             "MPI_Allgather");
    }
#endif
    return out;
  }

  /// Exchanges one value for each rank: out[r] is what rank r has at mine[rank()].
  template <Sendable T>
  std::vector<T> transpose(const std::vector<T>& mine) const {
    std::vector<T> out(mine);
#ifdef SPOROS_HAVE_MPI
    if (size() > 1) {
      const detail::ByteType type(sizeof(T));
      detail::expect_success(MPI_Alltoall(mine.data(), 1, type, out.data(), 1, type, state_->comm),
                             "MPI_Alltoall");
    }
#endif
    return out;
  }

  /// The sum of the values of the ranks before this one.
  std::int64_t sum_before([[maybe_unused]] std::int64_t mine) const {
    std::int64_t out = 0;
#ifdef SPOROS_HAVE_MPI
    if (size() > 1)
      detail::expect_success(MPI_Exscan(&mine, &out, 1, MPI_INT64_T, MPI_SUM, state_->comm), "MPI_Exscan");
    if (rank() == 0) out = 0;  // MPI leaves it undefined
#endif
    return out;
  }

  /// Sends `sent`, which holds sends[r] elements for each rank r, one rank after another, and receives
  /// receives[r] elements from each rank r into `received`.
  /// @param any_large  whether any rank sends or receives more elements than an `int` can count
  template <Sendable T>
  void exchange(const T* sent, const std::vector<std::int64_t>& sends, T* received,
                [[maybe_unused]] const std::vector<std::int64_t>& receives,
                [[maybe_unused]] bool any_large) const {
    if (size() == 1) {
      if (sends[0] > 0)
        std::memcpy(static_cast<void*>(received), sent, static_cast<std::size_t>(sends[0]) * sizeof(T));
      return;
    }
#ifdef SPOROS_HAVE_MPI
    if (!any_large) {
      const detail::ByteType type(sizeof(T));
      const Counts out(sends), in(receives);
      detail::expect_success(MPI_Alltoallv(sent, out.counts.data(), out.begins.data(), type, received,
                                           in.counts.data(), in.begins.data(), type, state_->comm),
                             "MPI_Alltoallv");
      return;
    }
    Requests under_way;
    std::int64_t at = 0;
    for (int from = 0; from < size(); at += receives[static_cast<std::size_t>(from++)])
      receive(under_way, received + at, receives[static_cast<std::size_t>(from)], from, {});
    at = 0;
    for (int to = 0; to < size(); at += sends[static_cast<std::size_t>(to++)])
      send(under_way, sent + at, sends[static_cast<std::size_t>(to)], to, {});
    under_way.wait();
#endif
  }

  /// all = what the ranks have at `mine`: counts[r] elements from each rank r, one rank after another, on
  /// every rank.
  /// @param any_large  whether there are more than an `int` can count
  template <Sendable T>
  void gather_all(const T* mine, T* all, const std::vector<std::int64_t>& counts,
                  [[maybe_unused]] bool any_large) const {
#ifdef SPOROS_HAVE_MPI
    if (size() > 1 && !any_large) {
      const detail::ByteType type(sizeof(T));
      const Counts parts(counts);
      detail::expect_success(MPI_Allgatherv(mine, parts.counts[here()], type, all, parts.counts.data(),
                                            parts.begins.data(), type, state_->comm),
                             "MPI_Allgatherv");
      return;
    }
#endif
    std::int64_t at = 0;
    for (int from = 0; from < size(); at += counts[static_cast<std::size_t>(from++)]) {
      const std::int64_t count = counts[static_cast<std::size_t>(from)];
      if (from == rank()) std::copy_n(mine, count, all + at);
      broadcast(all + at, count, from);
    }
  }

  /// Does the same on rank `root` only; `all` and `any_large` have the same meaning.
  template <Sendable T>
  void gather(const T* mine, T* all, const std::vector<std::int64_t>& counts, int root,
              bool any_large) const {
#ifdef SPOROS_HAVE_MPI
    if (size() > 1 && !any_large) {
      const detail::ByteType type(sizeof(T));
      const Counts parts(counts);
      detail::expect_success(MPI_Gatherv(mine, parts.counts[here()], type, all, parts.counts.data(),
                                         parts.begins.data(), type, root, state_->comm),
                             "MPI_Gatherv");
      return;
    }
#endif
    const auto [of_rank, of_root] = counts_of_root(counts, root);
    exchange(mine, of_rank, all, of_root, any_large);
  }

  /// The reverse: mine = the counts[rank()] elements for this rank among those that rank `root` has at `all`,
  /// in the order of ranks.
  template <Sendable T>
  void scatter(const T* all, T* mine, const std::vector<std::int64_t>& counts, int root,
               bool any_large) const {
#ifdef SPOROS_HAVE_MPI
    if (size() > 1 && !any_large) {
      const detail::ByteType type(sizeof(T));
      const Counts parts(counts);
      detail::expect_success(MPI_Scatterv(all, parts.counts.data(), parts.begins.data(), type, mine,
                                          parts.counts[here()], type, root, state_->comm),
                             "MPI_Scatterv");
      return;
    }
#endif
    const auto [of_rank, of_root] = counts_of_root(counts, root);
    exchange(all, of_root, mine, of_rank, any_large);
  }

  /// Starts to send data[0, count) to a rank, which must receive with the same count. Not collective.
  /// @param buffer  keeps `data` alive
  template <Sendable T>
  void send([[maybe_unused]] Requests& into, [[maybe_unused]] const T* data,
            [[maybe_unused]] std::int64_t count, [[maybe_unused]] int to,
            std::shared_ptr<const void> buffer) const {
    into.buffers_.push_back(std::move(buffer));
#ifdef SPOROS_HAVE_MPI
    for_each_message(into, data, count, "MPI_Isend", [&](auto* bytes, int number, MPI_Request* request) {
      return MPI_Isend(bytes, number, MPI_BYTE, to, message_tag, state_->comm, request);
    });
#endif
  }
  template <Sendable T>
  void receive([[maybe_unused]] Requests& into, [[maybe_unused]] T* data, [[maybe_unused]] std::int64_t count,
               [[maybe_unused]] int from, std::shared_ptr<const void> buffer) const {
    into.buffers_.push_back(std::move(buffer));
#ifdef SPOROS_HAVE_MPI
    for_each_message(into, data, count, "MPI_Irecv", [&](auto* bytes, int number, MPI_Request* request) {
      return MPI_Irecv(bytes, number, MPI_BYTE, from, message_tag, state_->comm, request);
    });
#endif
  }

  /// Starts to copy data[0, count) from rank `root` to every rank, while other work goes on.
  /// @param buffer  keeps `data` alive
  template <Sendable T>
  void start_broadcast([[maybe_unused]] Requests& into, [[maybe_unused]] T* data,
                       [[maybe_unused]] std::int64_t count, [[maybe_unused]] int root,
                       std::shared_ptr<const void> buffer) const {
    into.buffers_.push_back(std::move(buffer));
#ifdef SPOROS_HAVE_MPI
    if (size() == 1) return;
    for_each_message(into, data, count, "MPI_Ibcast", [&](auto* bytes, int number, MPI_Request* request) {
      return MPI_Ibcast(bytes, number, MPI_BYTE, root, state_->comm, request);
    });
#endif
  }

  /// Prepares to send data[0, count) to a rank every time the messages are started. Not collective.
  template <Sendable T>
  void prepare_send([[maybe_unused]] RepeatedMessages& into, [[maybe_unused]] const T* data,
                    [[maybe_unused]] std::int64_t count, [[maybe_unused]] int to,
                    std::shared_ptr<const void> buffer) const {
    into.buffers_.push_back(std::move(buffer));
#ifdef SPOROS_HAVE_MPI
    for_each_message(into, data, count, "MPI_Send_init", [&](auto* bytes, int number, MPI_Request* request) {
      return MPI_Send_init(bytes, number, MPI_BYTE, to, repeated_tag, state_->comm, request);
    });
#endif
  }
  template <Sendable T>
  void prepare_receive([[maybe_unused]] RepeatedMessages& into, [[maybe_unused]] T* data,
                       [[maybe_unused]] std::int64_t count, [[maybe_unused]] int from,
                       std::shared_ptr<const void> buffer) const {
    into.buffers_.push_back(std::move(buffer));
#ifdef SPOROS_HAVE_MPI
    for_each_message(into, data, count, "MPI_Recv_init", [&](auto* bytes, int number, MPI_Request* request) {
      return MPI_Recv_init(bytes, number, MPI_BYTE, from, repeated_tag, state_->comm, request);
    });
#endif
  }

  /// The largest number of elements that one MPI call moves. Tests reduce it, so as to send in pieces what
  /// would otherwise have to exceed 2 GiB.
  std::int64_t largest_count() const { return state_->largest_count; }
  void set_largest_count(std::int64_t count) const { state_->largest_count = count; }

 private:
  enum class Operation { sum, min, max };
  static constexpr int message_tag = 1;
  static constexpr int repeated_tag = 2;

  struct State {
    int rank = 0, size = 1;
    std::int64_t largest_count = std::int64_t{1} << 30;
    std::int64_t number = 0;
    std::shared_ptr<const void> attachment;
#ifdef SPOROS_HAVE_MPI
    MPI_Comm comm = MPI_COMM_NULL;

    void adopt() {
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &size);
    }
#endif
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
#ifdef SPOROS_HAVE_MPI
      if (comm == MPI_COMM_NULL) return;
      int finished = 0;
      MPI_Finalized(&finished);
      if (!finished) MPI_Comm_free(&comm);
#endif
    }
  };

#ifdef SPOROS_HAVE_MPI
  bool has_mpi() const { return state_->comm != MPI_COMM_NULL; }

  /// Calls an MPI function for each piece of the bytes of data[0, count), each with its own request.
  template <class Into, class T, class Call>
  void for_each_message(Into& into, T* data, std::int64_t count, const char* function,
                        const Call& call) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    auto* const bytes = reinterpret_cast<Byte*>(data);
    detail::for_each_piece(count * static_cast<std::int64_t>(sizeof(T)), state_->largest_count,
                           [&](std::int64_t at, int number) {
                             MPI_Request& request = into.requests_.emplace_back(MPI_REQUEST_NULL);
                             detail::expect_success(call(bytes + at, number, &request), function);
                           });
  }

  /// Counts and displacements in the form that MPI takes.
  struct Counts {
    std::vector<int> counts, begins;
    explicit Counts(const std::vector<std::int64_t>& of) {
      int at = 0;
      for (const std::int64_t count : of) {
        counts.push_back(static_cast<int>(count));
        begins.push_back(at);
        at += static_cast<int>(count);
      }
    }
  };
#endif

  std::size_t here() const { return static_cast<std::size_t>(rank()); }

  /// What this rank exchanges with the root, and the root with all ranks, as counts for each rank.
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> counts_of_root(
      const std::vector<std::int64_t>& counts, int root) const {
    std::vector<std::int64_t> of_rank(counts.size()), of_root(counts.size());
    of_rank[static_cast<std::size_t>(root)] = counts[here()];
    if (rank() == root) of_root = counts;
    return {std::move(of_rank), std::move(of_root)};
  }

  template <class T>
  void reduce([[maybe_unused]] T* data, [[maybe_unused]] std::int64_t count,
              [[maybe_unused]] Operation operation) const {
#ifdef SPOROS_HAVE_MPI
    if (size() == 1) return;
    if constexpr (is_narrow_float_v<T>) {
      std::vector<float> wide(data, data + count);
      reduce(wide.data(), count, operation);
      std::copy(wide.begin(), wide.end(), data);
    } else {
      // For bool, the sum says whether any is true.
      const bool is_largest =
          operation == Operation::max || (operation == Operation::sum && std::is_same_v<T, bool>);
      const MPI_Op op = is_largest ? MPI_MAX : operation == Operation::min ? MPI_MIN : MPI_SUM;
      detail::for_each_piece(count, state_->largest_count, [&](std::int64_t at, int number) {
        detail::expect_success(
            MPI_Allreduce(MPI_IN_PLACE, data + at, number, detail::reduced_type<T>(), op, state_->comm),
            "MPI_Allreduce");
      });
    }
#endif
  }

  std::shared_ptr<State> state_;
};

}  // namespace sporos
