// The few functions that the tests need, so that they need no test library.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

struct test_case {
    const char *name;
    void (*run)();
};

inline std::vector<test_case> &cases() {
    static std::vector<test_case> all;
    return all;
}

struct registered {
    registered(const char *name, void (*run)()) { cases().push_back({name, run}); }
};

#define CASE(name)                                                                                                     \
    static void name();                                                                                                \
    static registered registered_##name(#name, name);                                                                  \
    static void name()

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) {                                                                                          \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                             \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (false)

// Runs every case, or those whose names contain the first argument.
inline int run_cases(int argc, char **argv) {
    for (const test_case &one : cases()) {
        if (argc > 1 && std::string(one.name).find(argv[1]) == std::string::npos) continue;
        std::printf("%s\n", one.name);
        std::fflush(stdout);
        one.run();
    }
    return 0;
}
