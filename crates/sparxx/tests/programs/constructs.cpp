// A program with every construct. It prints the same whether it is translated or not.
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

int workers = 3;
long from_global = 0;

static long slow(long n) {
    volatile long turns = (n * 7919) % 500;
    while (turns > 0) turns = turns - 1;
    return n;
}

// The shape of the paper: read, compute on all cores, write in order.
static void read_compute_write() {
    std::istringstream input("never odd or even was it a car or a cat I saw");
    std::string output;
    [[spar::ToStream, spar::Input(input), spar::Output(output)]]
    while (true) {
        std::string word;
        input >> word;
        if (!input) break;
        [[spar::Stage, spar::Input(word), spar::Output(word), spar::Replicate(workers)]]
        { slow(99), word = std::string(word.rbegin(), word.rend()); }
        [[spar::Stage, spar::Input(word), spar::Output(output)]]
        { output += word + " "; }
    }
    std::cout << __func__ << ": " << output << "\n";
}

// No variable is listed, so all of them are found.
static void nothing_is_listed() {
    std::vector<long> seen;
    long sum = 0, factor = 3;
    [[spar::ToStream]]
    for (long i = 0; i < 500; i++) {
        long squared = 0;
        std::string text;
        [[spar::Stage, spar::Replicate()]]
        {
            squared = slow(i) * i * factor;
            text = std::to_string(squared);
        }
        [[spar::Stage]]
        {
            sum += squared;
            seen.push_back(static_cast<long>(text.size()) + i);
        }
    }
    std::cout << __func__ << ": " << sum << " " << seen.size() << " " << seen[17] << " " << seen.back() << "\n";
}

// Iterations that stages drop, and iterations that the source skips.
static void rounds_are_dropped() {
    int kept = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 300; i++) {
        if (i % 7 == 0) continue;
        [[spar::Stage, spar::Input(i), spar::Replicate(2)]]
        {
            if (i % 3 == 0) continue;
            for (int j = 0; j < 3; j++) {
                if (j == 1) continue;
                slow(j);
            }
        }
        [[spar::Stage, spar::Output(kept)]] kept += i;
    }
    std::cout << __func__ << ": " << kept << "\n";
}

// Arrays, in one and in two dimensions, and std::array.
static void arrays_travel() {
    long sum = 0;
    [[spar::ToStream, spar::Output(sum)]]
    for (int i = 0; i < 100; i++) {
        int row[4] = {i, i + 1, i + 2, i + 3};
        char grid[2][3] = {{'a', 'b', 'c'}, {'d', 'e', 'f'}};
        std::array<long, 3> wide{{i, 2 * i, 3 * i}};
        std::string texts[2] = {"x", std::to_string(i)};
        const int constant = 5;
        [[spar::Stage, spar::Input(row, grid, wide, texts, constant), spar::Output(row, wide), spar::Replicate(workers)]]
        {
            for (int &each : row) each *= constant;
            wide[1] += grid[1][2] + static_cast<long>(texts[1].size());
        }
        [[spar::Stage, spar::Input(row, wide), spar::Output(sum)]]
        sum += row[3] + wide[1] + wide[2];
    }
    std::cout << __func__ << ": " << sum << "\n";
}

// Types that can only be moved.
static void only_moves() {
    long sum = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 200; i++) {
        auto owned = std::make_unique<long>(i);
        [[spar::Stage, spar::Input(owned), spar::Output(owned), spar::Replicate(2)]]
        *owned = slow(*owned) * 2;
        [[spar::Stage, spar::Input(owned)]]
        { sum += *owned; }
    }
    std::cout << __func__ << ": " << sum << "\n";
}

// References, structured bindings, pointers.
static void references_and_bindings() {
    std::map<int, std::string> names{{1, "one"}, {2, "two"}, {3, "three"}};
    std::string all;
    [[spar::ToStream]]
    for (const auto &[key, name] : names) {
        [[spar::Stage, spar::Replicate(2)]] { slow(key); }
        [[spar::Stage]] { all += name + std::to_string(key); }
    }
    std::vector<std::string> list{"x", "yy", "zzz"};
    [[spar::ToStream]]
    for (std::string &text : list) {
        std::string *pointer = &text;
        [[spar::Stage, spar::Input(pointer), spar::Replicate(2)]] { *pointer += "!"; }
        [[spar::Stage, spar::Input(pointer)]] { all += *pointer; }
    }
    for (const std::string &text : list) all += text;
    std::cout << __func__ << ": " << all << "\n";
}

// Stages under a condition, in an inner loop, in a block.
static void stages_stand_anywhere() {
    long sum = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 40; i++) {
        if (i % 2 == 0) {
            for (int j = 0; j < 5; j++) {
                long product = i * j;
                [[spar::Stage, spar::Input(product), spar::Output(product), spar::Replicate(workers)]] product += slow(1);
                [[spar::Stage, spar::Input(product, i)]] sum += product + i;
            }
        }
    }
    [[spar::ToStream]]
    {
        int left = 30;
        do {
            int mine = left;
            [[spar::Stage, spar::Replicate(2)]] { mine *= 2; }
            [[spar::Stage]] { sum += mine; }
        } while (--left > 0);
    }
    std::cout << __func__ << ": " << sum << "\n";
}

// Statements behind the last stage belong to the source part.
static void statements_follow() {
    long sum = 0;
    int rounds = 0;
    int i = 0;
    [[spar::ToStream]]
    while (i < 100) {
        std::string text = std::to_string(i);
        if (true) {
            [[spar::Stage, spar::Input(text), spar::Replicate(2)]] { slow(static_cast<long>(text.size())); }
            [[spar::Stage, spar::Input(text)]] { sum += std::stol(text); }
        }
        rounds += static_cast<int>(text.size());
        i++;
    }
    std::cout << __func__ << ": " << sum << " " << rounds << "\n";
}

// The source part changes variables that stages use. Each item has the value of its iteration.
static void the_source_counts_on() {
    std::string all;
    int count = 0;
    char current = 'a';
    [[spar::ToStream]]
    while (count < 26) {
        [[spar::Stage, spar::Replicate(workers)]] { slow(count); }
        [[spar::Stage]] { all += static_cast<char>(current + (count % 2)); }
        count++;
        current++;
    }
    std::cout << __func__ << ": " << all << "\n";
}

// Member functions, in the class and outside, and templates.
class Counter {
  public:
    explicit Counter(int start) : start_(start) {}
    long in_class() const {
        long sum = 0;
        [[spar::ToStream]]
        for (int i = 0; i < 50; i++) {
            long value = i;
            [[spar::Stage, spar::Input(value), spar::Output(value), spar::Replicate(2)]] { value = scaled(value); }
            [[spar::Stage, spar::Input(value)]] { sum += value; }
        }
        return sum;
    }
    long outside();
    static long no_object() {
        long sum = 0;
        [[spar::ToStream]]
        for (int i = 0; i < 50; i++) {
            [[spar::Stage, spar::Input(i), spar::Replicate(2)]] { slow(i); }
            [[spar::Stage, spar::Input(i)]] { sum += i; }
        }
        return sum;
    }

  private:
    long scaled(long value) const { return slow(value) * start_; }
    int start_;
    long total_ = 0;
};

long Counter::outside() {
    [[spar::ToStream, spar::Output(total_)]]
    for (int i = 0; i < 50; i++) {
        long value = i;
        [[spar::Stage, spar::Input(value), spar::Output(value), spar::Replicate(2)]] { value = scaled(value); }
        [[spar::Stage, spar::Input(value), spar::Output(total_)]] { total_ += value; }
    }
    return total_;
}

template <class T, int N>
static T of_template(const std::vector<T> &items) {
    T sum{};
    [[spar::ToStream]]
    for (const T &item : items) {
        T changed = item;
        [[spar::Stage, spar::Input(changed), spar::Output(changed), spar::Replicate(N)]] { changed += changed; }
        [[spar::Stage, spar::Input(changed)]] { sum += changed; }
    }
    return sum;
}

static void methods_and_templates() {
    Counter counter(3);
    auto lambda = [](int n) {
        long sum = 0;
        [[spar::ToStream]]
        for (int i = 0; i < n; i++) {
            [[spar::Stage, spar::Input(i), spar::Replicate(2)]] { slow(i); }
            [[spar::Stage, spar::Input(i)]] { sum += i; }
        }
        return sum;
    };
    std::cout << __func__ << ": " << counter.in_class() << " " << counter.outside() << " " << Counter::no_object() << " "
              << of_template<int, 2>({1, 2, 3}) << " " << of_template<std::string, 3>({"a", "b"}) << " " << lambda(20) << "\n";
}

// Jumps out of the region, and exceptions in it.
static int leaves_by_return(int at) {
    int sum = 0;
    [[spar::ToStream]]
    for (int i = 0;; i++) {
        if (i == at) return i;
        [[spar::Stage, spar::Input(i), spar::Replicate(2)]] { slow(i); }
        [[spar::Stage, spar::Input(i), spar::Output(sum)]] { sum += i; }
    }
    return -1;
}

static std::string fails(int where, std::string &seen) {
    try {
        [[spar::ToStream, spar::Input(where)]]
        for (int i = 0; i < 400; i++) {
            if (where == 1 && i == 77) throw std::runtime_error("source at 77");
            int value = i;
            [[spar::Stage, spar::Input(value, where), spar::Output(value), spar::Replicate(4)]]
            {
                slow(1000 - value);
                if (where == 2 && value >= 70) throw std::out_of_range("stage at " + std::to_string(value));
            }
            [[spar::Stage, spar::Input(value, where), spar::Output(seen)]]
            {
                if (where == 3 && value == 66) throw value;
                seen += static_cast<char>('a' + value % 26);
            }
        }
    } catch (const std::exception &error) {
        return error.what();
    } catch (int number) {
        return "number " + std::to_string(number);
    }
    return "nothing";
}

static void regions_are_left() {
    std::cout << __func__ << ": " << leaves_by_return(41);
    for (int where = 0; where < 4; where++) {
        std::string seen;
        std::string error = fails(where, seen);
        std::cout << " | " << error << " " << seen.size() << seen.back();
    }
    std::cout << "\n";
}

// A region that is entered many times, sometimes without items.
static void entered_again() {
    long sum = 0;
    for (int round = 0; round < 60; round++) {
        [[spar::ToStream]]
        for (int i = 0; i < round % 4; i++) {
            [[spar::Stage, spar::Input(i, round), spar::Replicate(2)]] { slow(i + round); }
            [[spar::Stage, spar::Input(i, round)]] { sum += i * round; }
        }
    }
    std::cout << __func__ << ": " << sum << "\n";
}

// Several replicated stages, next to each other and around serial stages.
static void many_stages() {
    std::string all;
    [[spar::ToStream]]
    for (int i = 0; i < 100; i++) {
        int a = i, b = 0, c = 0;
        [[spar::Stage, spar::Input(a), spar::Output(b), spar::Replicate(2)]] { b = a + 1; }
        [[spar::Stage, spar::Input(b), spar::Output(c), spar::Replicate(3)]] { c = b * 2; }
        [[spar::Stage, spar::Input(c), spar::Output(from_global)]] { from_global += c; }
        [[spar::Stage, spar::Input(c), spar::Output(c), spar::Replicate(workers)]] { c %= 10; }
        [[spar::Stage, spar::Input(c)]] { all += std::to_string(c); }
    }
    std::cout << __func__ << ": " << from_global << " " << all.size() << all[13] << "\n";
}

// Hidden names, lambdas in stages, preprocessor directives, macros, and unusual ways of writing annotations.
#define TWICE(x) ((x) + (x))
#define FOREVER for (;;)
static void odd_ways() {
    std::string data = "outer";
    long sum = 0;
    int rounds = 0;
    [ [ spar :: ToStream ( ) , spar::Input(data) ] ]
    FOREVER {
        if (rounds == 30) break;
        std::vector<int> data{rounds, 2, 3};
        // [[spar::Stage]] in a comment is none
        const char *text = "[[spar::Stage]]" R"([[spar::Stage)";
        [[using spar: Stage, Input(data, text), Output(data), Replicate(2)]]
        {
#ifdef NEVER_DEFINED
            data.clear();
#else
            auto add = [&data](int by) { data.push_back(by); return data.data()[0]; };
            add(TWICE(static_cast<int>(std::strlen(text)) > 3 ? 5 : 7));
#endif
            int data = 4;
            (void)data;
        }
        [[
            spar::Stage,
            spar::Input(data),
            spar::Output(sum)
        ]]
        for (int each : data) {
            if (each == 2) continue;
            switch (each) {
            case 3: break;
            default: sum += each;
            }
        }
        rounds++;
    }
    std::cout << __func__ << ": " << sum << " " << data << "\n";
}

// A stage alone, replicated or serial; a region whose stage is the whole body.
static void one_stage() {
    std::vector<int> doubled(100);
    [[spar::ToStream]]
    for (int i = 0; i < 100; i++) {
        int *place = &doubled[static_cast<std::size_t>(i)];
        [[spar::Stage, spar::Input(i, place), spar::Replicate()]] { *place = 2 * i; }
    }
    int last = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 100; i++) {
        [[spar::Stage, spar::Input(i), spar::Output(last)]] last = i;
    }
    std::cout << __func__ << ": " << doubled[50] << " " << last << "\n";
}

int main() {
    read_compute_write();
    nothing_is_listed();
    rounds_are_dropped();
    arrays_travel();
    only_moves();
    references_and_bindings();
    stages_stand_anywhere();
    statements_follow();
    the_source_counts_on();
    methods_and_templates();
    regions_are_left();
    entered_again();
    many_stages();
    odd_ways();
    one_stage();
    return 0;
}
