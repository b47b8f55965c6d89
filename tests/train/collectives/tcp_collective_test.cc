#include "src/train/collectives/tcp/tcp_collective.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <latch>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/base/socket.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"
#include "tests/base/sanitizers.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/free_port.h"
#include "tests/train/collectives/thread_world.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

class TcpWorld final : public ThreadedWorld {
 public:
  using ThreadedWorld::ThreadedWorld;
  void Run(const CollectiveOptions& options, const Body& body) override {
    const int port = FreePort();
    RunWith(
        [&](int rank) {
          return TcpCollective({.rank = rank, .size = size(), .port = port}, options);
        },
        body);
  }
};

WorldKind Tcp(int size) {
  return {"Tcp" + std::to_string(size), [size] { return std::make_unique<TcpWorld>(size); }};
}

INSTANTIATE_TEST_SUITE_P(Tcp, CollectiveContract, testing::Values(Tcp(1), Tcp(2), Tcp(4)),
                         WorldName);

constexpr CollectiveOptions kShortly = {.connect_timeout = std::chrono::seconds(2)};

void AwaitListener(int port) {
  const SocketAddress address = Resolve("127.0.0.1", port).front();
  while (!Connect(address, std::chrono::steady_clock::now() + std::chrono::seconds(1))) {
    std::this_thread::yield();
  }
}

// Rank 0 of two; the other, the process `child`, kills itself after a first call.
std::unique_ptr<Collective> BesideOneThatDies(pid_t& child) {
  const int port = FreePort();
  child = fork();
  if (child < 0) return nullptr;
  if (child == 0) {
    auto collective = TcpCollective({.rank = 1, .size = 2, .port = port});
    collective->Barrier();
    kill(getpid(), SIGKILL);
  }
  auto collective = TcpCollective({.rank = 0, .size = 2, .port = port});
  collective->Barrier();
  return collective;
}

TEST(TcpCollective, AProcessThatDiesIsNoticedByThoseThatOnlyCheck) {
  pid_t child = -1;
  const auto collective = BesideOneThatDies(child);
  ASSERT_GE(child, 0);
  waitpid(child, nullptr, 0);
  const auto check_until_it_is_told = [&] {
    for (;; std::this_thread::yield()) collective->Check();
  };
  EXPECT_THAT(ErrorOf(check_until_it_is_told).what(), HasSubstr("rank 1 was lost: its"));
}

TEST(TcpCollective, AProcessThatDiesIsNamed) {
  pid_t child = -1;
  const auto collective = BesideOneThatDies(child);
  ASSERT_GE(child, 0);
  std::vector<float> data(100'000);
  const Error error = ErrorOf([&] { collective->AllReduce(data); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("rank 1 was lost in AllReduce of 100000 floats"));
  EXPECT_STREQ(ErrorOf([&] { collective->Barrier(); }).what(), error.what());
  waitpid(child, nullptr, 0);
}

// Like a suspended job: the others could not connect meanwhile.
template <typename Make>
void ExpectPatience(const Make& make) {
  EXPECT_EQ(InChild([&] {
              const int resumed = StopInAMoment(8);
              RunThreads(2, [&](int rank) {
                const auto collective = make(rank);
                char byte = 0;
                if (rank == 1) {
                  EXPECT_EQ(::read(resumed, &byte, 1), 1);
                }
                collective->Barrier();
              });
              return !testing::Test::HasFailure();
            }),
            0);
}

constexpr CollectiveOptions kPatient = {.timeout = std::chrono::milliseconds(5000)};

TEST(TcpCollective, AProcessThatWasStoppedHasItsTimeAgain) {
  const int port = FreePort();
  ExpectPatience(
      [&](int rank) { return TcpCollective({.rank = rank, .size = 2, .port = port}, kPatient); });
}

TEST(ThreadCollectives, OfAProcessThatWasStoppedHaveTheirTimeAgain) {
  auto collectives = ThreadCollectives(2, kPatient);
  ExpectPatience([&](int rank) { return std::move(collectives[static_cast<size_t>(rank)]); });
}

TEST(TcpCollective, LocalhostIsAName) {
  const int port = FreePort();
  RunThreads(3, [&](int rank) {
    const auto collective =
        TcpCollective({.rank = rank, .size = 3, .address = "localhost", .port = port});
    EXPECT_EQ(GatherValues(*collective, 1), (std::vector<uint64_t>{1, 1, 1}));
  });
}

// The first address of this machine that others see; empty: there is none.
std::string OwnAddress() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* one = all; one != nullptr && found.empty(); one = one->ifa_next) {
    const bool fits = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                      (one->ifa_flags & IFF_LOOPBACK) == 0 && (one->ifa_flags & IFF_UP) != 0;
    if (!fits) continue;
    SocketAddress address{.size = sizeof(sockaddr_in)};
    std::memcpy(&address.data, one->ifa_addr, sizeof(sockaddr_in));
    found = address.Host();
  }
  freeifaddrs(all);
  return found;
}

// Like a machine whose /etc/hosts maps its own name to a loopback address: other machines reach its
// ranks only by the address that they see.
TEST(TcpCollective, ANameMayStandForALoopbackAddressOnItsOwnMachine) {
  const std::string elsewhere = OwnAddress();
  if (elsewhere.empty()) GTEST_SKIP() << "this machine has loopback addresses only";
  const std::string here = "2130706433";  // 127.0.0.1, in another spelling
  const int port = FreePort();
  RunThreads(4, [&](int rank) {
    const auto collective = TcpCollective(
        {.rank = rank, .size = 4, .address = rank < 2 ? here : elsewhere, .port = port});
    EXPECT_EQ(GatherValues(*collective, 1), (std::vector<uint64_t>{1, 1, 1, 1}));
  });
}

TEST(TcpCollective, NamesThatAreNoneAreRefused) {
  const Error error =
      ErrorOf([] { TcpCollective({.rank = 1, .size = 2, .address = "no.such.name.invalid"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("no.such.name.invalid"));
}

TEST(TcpCollective, RanksThatAreNoneAreRefused) {
  EXPECT_THAT(ErrorOf([] { TcpCollective({.rank = 2, .size = 2}); }).what(),
              HasSubstr("no rank 2 of 2"));
}

TEST(TcpCollective, APortThatIsTakenIsNamed) {
  const int port = FreePort();
  const Socket other = Listen(Resolve("127.0.0.1", port).front());
  ASSERT_TRUE(other);
  const Error error = ErrorOf([&] { TcpCollective({.rank = 0, .size = 2, .port = port}); });
  EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(error.what(), HasSubstr("choose another port"));
}

// In a process that may open one more file.
TEST(TcpCollective, WhereNoMoreFilesMayBeOpenedThatIsSaid) {
  if (kAddressSanitizer)
    GTEST_SKIP() << "with it, checks of types open a pipe: there is no file left";
  const int port = FreePort();
  EXPECT_EQ(InChild([&] {
              const pid_t other = fork();
              if (other == 0) {
                AwaitListener(port);
                _exit(0);
              }
              const int next = open("/dev/null", O_RDONLY);
              close(next);
              rlimit limit = {};
              EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
              limit.rlim_cur = static_cast<rlim_t>(next) + 1;
              EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
              const Error error =
                  ErrorOf([&] { TcpCollective({.rank = 0, .size = 2, .port = port}); });
              EXPECT_THAT(error.what(), HasSubstr("rank 0 cannot accept another connection"));
              EXPECT_THAT(error.what(), HasSubstr("ulimit -n"));
              kill(other, SIGKILL);  // its connection may have been reset, and it would retry
              waitpid(other, nullptr, 0);
              return !testing::Test::HasFailure();
            }),
            0);
}

TEST(TcpCollective, ARankThatIsNotStartedIsNamed) {
  const int port = FreePort();
  std::latch rank_1_begins(1);
  RunThreads(2, [&](int rank) {
    const CollectiveOptions patient = {.connect_timeout = std::chrono::seconds(10)};
    const auto options = rank == 0 ? patient : CollectiveOptions();
    if (rank == 1) rank_1_begins.count_down();
    rank_1_begins.wait();
    const Error error =
        ErrorOf([&] { TcpCollective({.rank = rank, .size = 4, .port = port}, options); });
    EXPECT_THAT(error.what(), HasSubstr("2, 3 did not connect to rank 0"));
  });
}

TEST(TcpCollective, WithoutRank0OthersGiveUp) {
  const int port = FreePort();
  const Error error =
      ErrorOf([&] { TcpCollective({.rank = 1, .size = 2, .port = port}, kShortly); });
  EXPECT_THAT(error.what(),
              HasSubstr("rank 0 did not answer at 127.0.0.1:" + std::to_string(port)));
}

TEST(TcpCollective, RanksOfAnotherRunAreRefused) {
  const int port = FreePort();
  RunThreads(2, [&](int rank) {
    const Error error =
        ErrorOf([&] { TcpCollective({.rank = rank, .size = 2 + rank, .port = port}); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 of 3 came"));
  });
}

TEST(TcpCollective, TwoRanksOfOneNumberAreRefused) {
  const int port = FreePort();
  RunThreads(3, [&](int thread) {
    const int rank = thread == 0 ? 0 : 1;
    const Error error = ErrorOf([&] { TcpCollective({.rank = rank, .size = 3, .port = port}); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("that rank has already connected"));
  });
}

TEST(TcpCollective, ARankThatIsLostWhileOthersAreAwaitedIsNamed) {
  const int port = FreePort();
  RunThreads(2, [&](int rank) {
    const auto options = rank == 1 ? kShortly : CollectiveOptions();
    if (rank == 1) AwaitListener(port);  // the listener takes this for a stranger
    const Error error =
        ErrorOf([&] { TcpCollective({.rank = rank, .size = 3, .port = port}, options); });
    if (rank == 0) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1 was lost"));
    }
  });
}

Deadline InAMinute() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }

// Forwards data in both directions until both ends close.
void Forward(const Socket& from, const Socket& to) {
  std::array<std::byte, 4096> bytes;
  while (AwaitReadable(from, InAMinute())) {
    const ssize_t came = recv(from.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (came <= 0) break;
    SendAll(to, std::span(bytes).first(static_cast<size_t>(came)), InAMinute());
  }
  shutdown(to.fd(), SHUT_WR);
}

// Forwards one connection to that port at once, and its data only later: like a rank that is
// stopped right after it has connected.
void TakeOnLate(const Socket& listener, int port) {
  Socket near, far;
  while (!near) {
    if (!AwaitReadable(listener, InAMinute())) return;
    near = Accept(listener);
  }
  while (!far) far = Connect(Resolve("127.0.0.1", port).front(), InAMinute());
  const std::jthread back([&] { Forward(far, near); });
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  Forward(near, far);
}

TEST(TcpCollective, ARankThatIsStoppedAsItConnectsIsNoStranger) {
  const int port = FreePort(), line = FreePort();
  const Socket listener = Listen(Resolve("127.0.0.1", line).front());
  ASSERT_TRUE(listener);
  RunThreads(4, [&](int thread) {
    if (thread >= 2) return TakeOnLate(listener, port);  // of rank 1, for calls and for arrays
    const auto collective =
        TcpCollective({.rank = thread, .size = 2, .port = thread == 0 ? port : line});
    EXPECT_EQ(GatherValues(*collective, 7), (std::vector<uint64_t>{7, 7}));
  });
}

// That many connections that send nothing.
std::vector<Socket> Silent(int port, size_t count) {
  std::vector<Socket> silent;
  while (silent.size() < count) {
    Socket socket = Connect(Resolve("127.0.0.1", port).front(), InAMinute());
    if (socket) silent.push_back(std::move(socket));
  }
  return silent;
}

TEST(TcpCollective, WhoSaysNothingKeepsNobodyWaiting) {
  const int port = FreePort();
  RunThreads(2, [&](int rank) {
    const auto silent = Silent(port, rank == 1 ? 200 : 0);
    TcpCollective({.rank = rank, .size = 2, .port = port})->Barrier();
  });
}

// With so many, the oldest are closed, before any rank has connected.
TEST(TcpCollective, NotAllThatSayNothingAreKept) {
  const int port = FreePort();
  RunThreads(2, [&](int rank) {
    const auto silent = Silent(port, rank == 1 ? 100 : 0);
    if (rank == 1) {
      EXPECT_TRUE(AwaitReadable(silent.front(), InAMinute()));
      EXPECT_FALSE(AwaitReadable(silent.back(), {}));
    }
    TcpCollective({.rank = rank, .size = 2, .port = port})->Barrier();
  });
}

TEST(TcpCollective, StrangersAreNotLetIn) {
  const int port = FreePort();
  RunThreads(3, [&](int thread) {
    if (thread < 2) {
      const auto collective = TcpCollective({.rank = thread, .size = 2, .port = port});
      EXPECT_EQ(GatherValues(*collective, 7), (std::vector<uint64_t>{7, 7}));
      return;
    }
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const Socket socket = Connect(Resolve("127.0.0.1", port).front(), deadline);
    const std::string text = "GET / HTTP/1.1\r\nHost: somebody\r\n\r\n";
    if (socket) SendAll(socket, std::as_bytes(std::span(text)), deadline);
  });
}

}  // namespace
}  // namespace recpack::train
