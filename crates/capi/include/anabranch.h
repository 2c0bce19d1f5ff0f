/* Anabranch for C: runs a streaming loop on all cores and gives exactly what the loop would have given: the same
 * output, in the same order, with the same first error, in bounded memory.
 *
 *     anabranch_stream *stream = anabranch_stream_new();
 *     anabranch_source(stream, read_block, file, NULL, free_block);
 *     anabranch_map(stream, compress, NULL, NULL, free_block);       // for several blocks at once
 *     anabranch_serial_map(stream, write_block, out, NULL, NULL);        // for one block at a time, in order
 *     void *error = NULL;
 *     int status = anabranch_run(stream, &error);
 *     anabranch_stream_free(stream);
 *
 * A stream is described, and then it runs once. Its items come from a source function (anabranch_run), or are sent by a
 * loop of the caller (anabranch_start, anabranch_send, anabranch_finish).
 *
 * ITEMS are pointers. A function that gets an item owns it. A function that writes an item hands it over to the library,
 * which passes it on, or destroys it with the `destroy` of that function. The library destroys nothing if the item or
 * `destroy` is NULL.
 *
 * CONTEXTS are passed to each call of a function. When the stream is freed, each context is destroyed with its `release`,
 * unless that is NULL. Several threads at once call the function of a parallel stage. Only one thread at a time calls any
 * other function, but not always the same thread. Items, contexts and errors may move from thread to thread.
 *
 * ERRORS are pointers too. A function that fails writes its error in the place of its item. The first failure in the order
 * of the items ends the stream, and ordered stages have seen exactly the items before it. The caller gets and owns this
 * error. Other errors are destroyed with the function of anabranch_errors.
 *
 * CALLS return ANABRANCH_OK or another status below; anabranch_last_error returns a message. Only one thread at a time may
 * use a handle. Any number of threads may use a token. No function may throw a C++ exception into the library, or leave it
 * by longjmp; the functions of anabranch.hpp catch exceptions.
 */
#ifndef ANABRANCH_H
#define ANABRANCH_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. A library with another one does not fit this header. */
#define ANABRANCH_ABI 2

#ifdef __cplusplus
extern "C" {
#endif

/* The status that a call of the library returns. */
enum {
    ANABRANCH_OK = 0,
    ANABRANCH_FAILED = 1,  /* a function of the user has failed */
    ANABRANCH_STOPPED = 2, /* the stream has ended and takes no more items */
    ANABRANCH_INVALID = 3, /* the call is not allowed here or has a wrong argument; nothing was done */
    ANABRANCH_PANIC = 4    /* the library has a bug; please report it */
};

/* The status that a function of the user returns. */
enum {
    ANABRANCH_NEXT = 0, /* *item is the result */
    ANABRANCH_DROP = 1, /* there is no result; the function has destroyed the item, or keeps it */
    ANABRANCH_FAIL = 2, /* *item is the error, which may be NULL; the function has destroyed the item */
    ANABRANCH_END = 3   /* source: no more items; stage: the stream ends before this item, as by `break` */
};

typedef struct anabranch_stream anabranch_stream;
typedef struct anabranch_token anabranch_token;

typedef void (*anabranch_destroy)(void *pointer);
/* Writes the next item. */
typedef int (*anabranch_source_fn)(void *context, void **item);
/* Takes *item and writes its result there. `state` is the worker's state, or NULL if anabranch_state was not called. */
typedef int (*anabranch_stage_fn)(void *context, void *state, void **item);
/* Creates the state of a worker, on the worker's thread. */
typedef void *(*anabranch_state_fn)(void *context);
/* Returns how many bytes an item stands for. */
typedef uint64_t (*anabranch_weigh_fn)(void *context, void *item);
/* Gets how many items have passed the end, and the time since the start in nanoseconds. */
typedef void (*anabranch_progress_fn)(void *context, uint64_t items, uint64_t nanoseconds);

/* ---- The library ---- */

/* Returns the ANABRANCH_ABI of the library. */
uint32_t anabranch_abi(void);
/* Returns the version of the library, such as "0.1.0". */
const char *anabranch_version(void);
/* Returns the message of this thread's last call that did not return ANABRANCH_OK. It is valid until the next such call. */
const char *anabranch_last_error(void);
/* Returns the default number of workers: the environment variable ANABRANCH_WORKERS, or the number of processors. */
size_t anabranch_default_workers(void);
/* Frees a text that the library has returned. NULL is allowed. */
void anabranch_text_free(char *text);

/* ---- Describing a stream ---- */

/* Creates a stream without stages. Free it with anabranch_stream_free. */
anabranch_stream *anabranch_stream_new(void);
/* Frees a stream, and releases its contexts. A stream that was started and not finished ends first: the items that were
 * sent are finished, and an error is dropped. NULL is allowed. */
void anabranch_stream_free(anabranch_stream *stream);

/* Sets the source. One thread at a time calls `next`, until it returns ANABRANCH_END. It may block. */
int anabranch_source(anabranch_stream *stream, anabranch_source_fn next, void *context,
                     anabranch_destroy release, anabranch_destroy destroy);
/* Adds a parallel stage, which runs for several items at once. Its results have the order of its items. */
int anabranch_map(anabranch_stream *stream, anabranch_stage_fn call, void *context,
                  anabranch_destroy release, anabranch_destroy destroy);
/* Adds a serial stage, which runs for one item at a time, in order, and may change its context. */
int anabranch_serial_map(anabranch_stream *stream, anabranch_stage_fn call, void *context,
                     anabranch_destroy release, anabranch_destroy destroy);
/* Gives each worker a state of its own for the last stage, which must be parallel. The worker's thread creates, uses and
 * destroys the state. `make` gets the context of the stage. `destroy` may be NULL. */
int anabranch_state(anabranch_stream *stream, anabranch_state_fn make, anabranch_destroy destroy);
/* Gives up the order of the items from here on: stages take items in the order in which they finish. */
int anabranch_unordered(anabranch_stream *stream);
/* Sets the function that destroys errors which are not returned to the caller. */
int anabranch_errors(anabranch_stream *stream, anabranch_destroy destroy);

/* The settings of anabranch_set. No setting changes the results of a stream. */
enum {
    ANABRANCH_WORKERS = 0,  /* how many threads work, including the caller of anabranch_run: 1 to 65536 */
    ANABRANCH_WINDOW = 1,   /* how many items may be between the source and the end: 1 to 2^31 */
    ANABRANCH_BURST = 2,    /* how many items a worker claims at once: 1 to 2^31. By default it depends on their cost */
    ANABRANCH_REPLICAS = 3, /* how many calls of the last stage, which is parallel, may run at once: 1 to 65536 */
    ANABRANCH_SPIN = 4,     /* 1: one waiting thread spins and never parks. The default is 0 */
    ANABRANCH_INLINE = 5,   /* 1: everything runs on the caller's thread, item by item. Not for sent items */
    ANABRANCH_IN_BLOCKS = 6 /* 1: the source function never waits, so its items travel in blocks, and small ones cost less.
                               * It may be called for the rest of a block after the stream has ended early. Not for sent items */
};
int anabranch_set(anabranch_stream *stream, int setting, int64_t value);

/* The names that anabranch_name sets. */
enum {
    ANABRANCH_TITLE = 0, /* the name of the stream and of its threads */
    ANABRANCH_STAGE = 1  /* the name of the last stage, or of the source if there is no stage */
};
int anabranch_name(anabranch_stream *stream, int what, const char *text);

/* Limits the bytes in flight. While the items between the source and the end stand for `bytes` or more, the source is not
 * called. `weigh` is called for each item of the source, and returns the bytes that the item stands for. */
int anabranch_window_bytes(anabranch_stream *stream, uint64_t bytes, anabranch_weigh_fn weigh, void *context,
                           anabranch_destroy release);
/* Calls `tell` at most ten times a second while the stream runs, and once at its end. */
int anabranch_on_progress(anabranch_stream *stream, anabranch_progress_fn tell, void *context,
                          anabranch_destroy release);
/* Measures the run, for anabranch_report. If `traces` is not 0, the report also has the work of each thread over time. */
int anabranch_measure(anabranch_stream *stream, int traces);
/* Lets a token stop the stream from outside. */
int anabranch_cancel_by(anabranch_stream *stream, anabranch_token *token);

/* ---- Running it ---- */

/* Runs the stream, and returns after all of its threads have ended their work. If a function has failed, the result is
 * ANABRANCH_FAILED, and *error is the error. A stream that was cancelled returns ANABRANCH_OK. `error` may be NULL. */
int anabranch_run(anabranch_stream *stream, void **error);

/* Starts a stream without a source on threads of its own. `destroy` destroys items that were sent. */
int anabranch_start(anabranch_stream *stream, anabranch_destroy destroy);
/* Sends an item, and waits while there is no room. The item belongs to the library, whatever the result is.
 * ANABRANCH_STOPPED means that the stream has ended by a failure or a token; anabranch_finish says which. */
int anabranch_send(anabranch_stream *stream, void *item);
/* Ends the items, waits until all of them are finished, and returns the same as anabranch_run. */
int anabranch_finish(anabranch_stream *stream, void **error);

/* ---- Looking at it ---- */

/* Formats of plans and reports. */
enum {
    ANABRANCH_TEXT = 0,
    ANABRANCH_JSON = 1,
    ANABRANCH_DOT = 2,     /* plans: for Graphviz */
    ANABRANCH_SVG = 3,     /* a picture */
    ANABRANCH_CHROME = 4   /* reports: what the threads did, for Perfetto and chrome://tracing */
};
/* Returns the plan of a stream that was not run yet. Free it with anabranch_text_free. NULL after an error. */
char *anabranch_plan(const anabranch_stream *stream, int format);
/* Returns the report of the run, if anabranch_measure was called. Free it with anabranch_text_free. NULL after an error. */
char *anabranch_report(const anabranch_stream *stream, int format);

/* ---- Stopping it from outside ---- */

/* Creates a token that stops nothing yet. Free it with anabranch_token_free. It may be freed before its streams. */
anabranch_token *anabranch_token_new(void);
void anabranch_token_free(anabranch_token *token);
/* Ends the streams of the token now. The items in flight are dropped. */
void anabranch_token_cancel(anabranch_token *token);
/* Stops the sources of the streams of the token. The items in flight are finished. */
void anabranch_token_drain(anabranch_token *token);
/* Returns 0 if no run was stopped. Otherwise returns 1, and writes how many items of the last stopped run were delivered
 * and dropped. */
int anabranch_token_stopped(const anabranch_token *token, uint64_t *delivered, uint64_t *dropped);

#ifdef __cplusplus
}
#endif

#endif
