/* The C interface: compiled as C11 and as C++17. */
#include "anabranch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(claim)                                                                                                   \
    do {                                                                                                               \
        if (!(claim)) {                                                                                                \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #claim, anabranch_last_error());           \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct counter {
    long next, last, released;
};

static void release(void *context) { ((struct counter *)context)->released += 1; }

static long *boxed(long value) {
    long *item = (long *)malloc(sizeof *item);
    if (item == NULL) abort();
    *item = value;
    return item;
}

static int count(void *context, void **item) {
    struct counter *counter = (struct counter *)context;
    if (counter->next == counter->last) return ANABRANCH_END;
    *item = boxed(counter->next++);
    return ANABRANCH_NEXT;
}

static int square(void *context, void *state, void **item) {
    long *value = (long *)*item;
    (void)context;
    if (state != NULL) *(long *)state += 1;
    *value = *value * *value;
    return ANABRANCH_NEXT;
}

static int drop_odd(void *context, void *state, void **item) {
    (void)context;
    (void)state;
    if (*(long *)*item % 2 == 0) return ANABRANCH_NEXT;
    free(*item);
    return ANABRANCH_DROP;
}

/* Fails with a text that has to be freed, from 100 squared on. */
static int fail_late(void *context, void *state, void **item) {
    (void)context;
    (void)state;
    if (*(long *)*item < 100 * 100) return ANABRANCH_NEXT;
    char *text = (char *)malloc(32);
    if (text == NULL) abort();
    snprintf(text, 32, "item %ld", *(long *)*item);
    free(*item);
    *item = text;
    return ANABRANCH_FAIL;
}

static int add(void *context, void *state, void **item) {
    (void)state;
    *(long *)context += *(long *)*item;
    free(*item);
    return ANABRANCH_DROP;
}

static int end_at_nine(void *context, void *state, void **item) {
    (void)context;
    (void)state;
    if (*(long *)*item < 9) return ANABRANCH_NEXT;
    free(*item);
    return ANABRANCH_END;
}

static void *make_state(void *context) {
    (void)context;
    return boxed(0);
}

static void tell(void *context, uint64_t items, uint64_t nanoseconds) {
    (void)nanoseconds;
    *(uint64_t *)context = items;
}

static uint64_t weigh(void *context, void *item) {
    (void)context;
    (void)item;
    return sizeof(long);
}

static void a_stream_gives_what_the_loop_gives(void) {
    struct counter counter = {0, 1000, 0};
    long sum = 0, expected = 0;
    uint64_t told = 0;
    for (long n = 0; n < 1000; n += 2) expected += n * n;
    anabranch_stream *stream = anabranch_stream_new();
    CHECK(anabranch_name(stream, ANABRANCH_STAGE, "count") == ANABRANCH_OK);
    CHECK(anabranch_source(stream, count, &counter, release, free) == ANABRANCH_OK);
    CHECK(anabranch_map(stream, square, NULL, NULL, free) == ANABRANCH_OK);
    CHECK(anabranch_state(stream, make_state, free) == ANABRANCH_OK);
    CHECK(anabranch_name(stream, ANABRANCH_STAGE, "square") == ANABRANCH_OK);
    CHECK(anabranch_set(stream, ANABRANCH_REPLICAS, 2) == ANABRANCH_OK);
    CHECK(anabranch_map(stream, drop_odd, NULL, NULL, free) == ANABRANCH_OK);
    CHECK(anabranch_serial_map(stream, add, &sum, NULL, NULL) == ANABRANCH_OK);
    CHECK(anabranch_set(stream, ANABRANCH_WORKERS, 3) == ANABRANCH_OK);
    CHECK(anabranch_set(stream, ANABRANCH_WINDOW, 16) == ANABRANCH_OK);
    CHECK(anabranch_measure(stream, 0) == ANABRANCH_OK);
    CHECK(anabranch_window_bytes(stream, 1 << 20, weigh, NULL, NULL) == ANABRANCH_OK);
    CHECK(anabranch_on_progress(stream, tell, &told, NULL) == ANABRANCH_OK);
    char *plan = anabranch_plan(stream, ANABRANCH_JSON);
    CHECK(plan != NULL && strstr(plan, "square") != NULL);
    anabranch_text_free(plan);
    CHECK(anabranch_report(stream, ANABRANCH_TEXT) == NULL);
    void *error = &sum;
    CHECK(anabranch_run(stream, &error) == ANABRANCH_OK);
    CHECK(error == NULL && sum == expected && told == 1000 && counter.released == 0);
    char *report = anabranch_report(stream, ANABRANCH_TEXT);
    CHECK(report != NULL && strstr(report, "count") != NULL);
    anabranch_text_free(report);
    CHECK(anabranch_run(stream, NULL) == ANABRANCH_INVALID);
    anabranch_stream_free(stream);
    CHECK(counter.released == 1);
}

static void the_first_failure_in_order_is_given(void) {
    for (int round = 0; round < 20; round++) {
        struct counter counter = {0, 100000, 0};
        long sum = 0;
        anabranch_stream *stream = anabranch_stream_new();
        CHECK(anabranch_errors(stream, free) == ANABRANCH_OK);
        CHECK(anabranch_source(stream, count, &counter, NULL, free) == ANABRANCH_OK);
        CHECK(anabranch_map(stream, square, NULL, NULL, free) == ANABRANCH_OK);
        CHECK(anabranch_map(stream, fail_late, NULL, NULL, free) == ANABRANCH_OK);
        CHECK(anabranch_serial_map(stream, add, &sum, NULL, NULL) == ANABRANCH_OK);
        void *error = NULL;
        CHECK(anabranch_run(stream, &error) == ANABRANCH_FAILED);
        CHECK(error != NULL && strcmp((char *)error, "item 10000") == 0);
        CHECK(sum == 99L * 100 * 199 / 6);
        free(error);
        anabranch_stream_free(stream);
    }
}

static void a_stage_may_end_the_stream(void) {
    struct counter counter = {0, 100000, 0};
    long sum = 0;
    anabranch_stream *stream = anabranch_stream_new();
    CHECK(anabranch_source(stream, count, &counter, NULL, free) == ANABRANCH_OK);
    CHECK(anabranch_map(stream, end_at_nine, NULL, NULL, free) == ANABRANCH_OK);
    CHECK(anabranch_serial_map(stream, add, &sum, NULL, NULL) == ANABRANCH_OK);
    CHECK(anabranch_run(stream, NULL) == ANABRANCH_OK);
    CHECK(sum == 36);
    anabranch_stream_free(stream);
}

static void items_may_be_sent(void) {
    for (int fails = 0; fails < 2; fails++) {
        long sum = 0;
        anabranch_stream *stream = anabranch_stream_new();
        CHECK(anabranch_errors(stream, free) == ANABRANCH_OK);
        CHECK(anabranch_map(stream, square, NULL, NULL, free) == ANABRANCH_OK);
        if (fails) CHECK(anabranch_map(stream, fail_late, NULL, NULL, free) == ANABRANCH_OK);
        CHECK(anabranch_unordered(stream) == ANABRANCH_OK);
        CHECK(anabranch_serial_map(stream, add, &sum, NULL, NULL) == ANABRANCH_OK);
        CHECK(anabranch_send(stream, NULL) == ANABRANCH_INVALID);
        CHECK(anabranch_start(stream, free) == ANABRANCH_OK);
        CHECK(anabranch_set(stream, ANABRANCH_WORKERS, 3) == ANABRANCH_INVALID);
        int status = ANABRANCH_OK;
        for (long n = 0; n < 10000 && status == ANABRANCH_OK; n++) status = anabranch_send(stream, boxed(n));
        void *error = NULL;
        CHECK(anabranch_finish(stream, &error) == (fails ? ANABRANCH_FAILED : ANABRANCH_OK));
        CHECK((error != NULL) == (fails != 0));
        if (!fails) CHECK(sum == 9999L * 10000 * 19999 / 6);
        free(error);
        CHECK(anabranch_finish(stream, NULL) == ANABRANCH_INVALID);
        anabranch_stream_free(stream);
    }
}

static void a_token_stops_a_stream(void) {
    struct counter counter = {0, -1, 0};
    uint64_t delivered = 7, dropped = 7;
    anabranch_token *token = anabranch_token_new();
    CHECK(!anabranch_token_stopped(token, &delivered, &dropped));
    anabranch_token_drain(token);
    anabranch_stream *stream = anabranch_stream_new();
    CHECK(anabranch_cancel_by(stream, token) == ANABRANCH_OK);
    CHECK(anabranch_source(stream, count, &counter, NULL, free) == ANABRANCH_OK);
    CHECK(anabranch_run(stream, NULL) == ANABRANCH_OK);
    CHECK(anabranch_token_stopped(token, &delivered, &dropped) && delivered == 0 && dropped == 0);
    anabranch_token_free(token);
    anabranch_stream_free(stream);
}

static void calls_that_make_no_sense_are_refused(void) {
    struct counter counter = {0, 0, 0};
    anabranch_stream *stream = anabranch_stream_new();
    CHECK(anabranch_abi() == ANABRANCH_ABI && strlen(anabranch_version()) >= 5);
    CHECK(anabranch_default_workers() >= 1);
    CHECK(anabranch_run(NULL, NULL) == ANABRANCH_INVALID);
    CHECK(anabranch_run(stream, NULL) == ANABRANCH_INVALID);
    CHECK(strstr(anabranch_last_error(), "anabranch_source") != NULL);
    CHECK(anabranch_map(stream, NULL, &counter, release, NULL) == ANABRANCH_INVALID && counter.released == 1);
    CHECK(anabranch_set(stream, ANABRANCH_WORKERS, 0) == ANABRANCH_INVALID);
    CHECK(strcmp(anabranch_last_error(), "ANABRANCH_WORKERS is 0: it can be 1 to 65536") == 0);
    CHECK(anabranch_set(stream, ANABRANCH_WINDOW, -3) == ANABRANCH_INVALID);
    CHECK(anabranch_set(stream, 99, 1) == ANABRANCH_INVALID);
    CHECK(anabranch_set(stream, ANABRANCH_IN_BLOCKS, 2) == ANABRANCH_INVALID);
    CHECK(anabranch_measure(NULL, 0) == ANABRANCH_INVALID);
    CHECK(anabranch_set(stream, ANABRANCH_REPLICAS, 2) == ANABRANCH_INVALID);
    CHECK(anabranch_name(stream, ANABRANCH_TITLE, NULL) == ANABRANCH_INVALID);
    CHECK(anabranch_state(stream, make_state, free) == ANABRANCH_INVALID);
    CHECK(anabranch_plan(stream, 9) == NULL);
    CHECK(anabranch_cancel_by(stream, NULL) == ANABRANCH_INVALID);
    anabranch_stream_free(stream);
    anabranch_stream_free(NULL);
    anabranch_token_free(NULL);
    anabranch_text_free(NULL);
}

int main(void) {
    a_stream_gives_what_the_loop_gives();
    the_first_failure_in_order_is_given();
    a_stage_may_end_the_stream();
    items_may_be_sent();
    a_token_stops_a_stream();
    calls_that_make_no_sense_are_refused();
    return 0;
}
