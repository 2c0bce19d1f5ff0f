/* Anabranch for C: runs a streaming loop on all cores and gives exactly what the loop would have given: the same
 * output, in the same order, with the same first error, in bounded memory.
 *
 *     anabranch_stream *stream = anabranch_stream_new();
 *     anabranch_source(stream, read_block, file, NULL, free_block);
 *     anabranch_map(stream, compress, NULL, NULL, free_block);       // for several blocks at once
 *     anabranch_serial(stream, write_block, out, NULL, NULL);        // one after the other, in order
 *     void *error = NULL;
 *     int status = anabranch_run(stream, &error);
 *     anabranch_stream_free(stream);
 *
 * A stream is described, then it runs once. Its items come from a source function (anabranch_run), or are sent by a loop
 * of the caller (anabranch_start, anabranch_send, anabranch_finish).
 *
 * ITEMS are pointers. A function that is given an item owns it. A function that gives an item hands it over; the library
 * passes it on, or destroys it with the `destroy` that was given with the function, unless the item or `destroy` is NULL.
 *
 * CONTEXTS are passed to each call of a function, and destroyed with `release`, unless that is NULL, when the stream is
 * freed. Functions of parallel stages are called by several threads at once. All others are called by one thread at a
 * time, though not always by the same one. Items, contexts and errors may move from thread to thread.
 *
 * ERRORS are pointers too: what a failing function writes in the place of its item. The first failure in the order of
 * the items ends the stream: stages in order have seen exactly the items before it. The caller gets that error and owns it;
 * other errors are destroyed with what anabranch_errors said.
 *
 * CALLS give ANABRANCH_OK or another status below; anabranch_last_error says in words what was wrong. A handle may be
 * used by one thread at a time, a token by any number. No function may throw a C++ exception into the library, or leave it
 * by longjmp: anabranch.hpp looks after exceptions.
 */
#ifndef ANABRANCH_H
#define ANABRANCH_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. A library with another one does not fit this header. */
#define ANABRANCH_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/* What a call of the library gives. */
enum {
    ANABRANCH_OK = 0,
    ANABRANCH_FAILED = 1,  /* a function of the user's has failed */
    ANABRANCH_STOPPED = 2, /* the stream has ended and takes no more items */
    ANABRANCH_INVALID = 3, /* the call makes no sense here: nothing was done */
    ANABRANCH_PANIC = 4    /* the library has failed: please report it */
};

/* What a function of the user's gives. */
enum {
    ANABRANCH_NEXT = 0, /* *item goes on */
    ANABRANCH_DROP = 1, /* nothing goes on: the function has destroyed the item, or kept it */
    ANABRANCH_FAIL = 2, /* *item is the error, which may be NULL: the function has destroyed the item */
    ANABRANCH_END = 3   /* source: no more items; stage: the stream ends before this item, as by `break` */
};

typedef struct anabranch_stream anabranch_stream;
typedef struct anabranch_token anabranch_token;

typedef void (*anabranch_destroy)(void *pointer);
/* Writes the next item. */
typedef int (*anabranch_source_fn)(void *context, void **item);
/* Takes *item and writes what goes on. `state` is the worker's own, if anabranch_state was called, else NULL. */
typedef int (*anabranch_stage_fn)(void *context, void *state, void **item);
/* Makes the state of a worker, on its thread. */
typedef void *(*anabranch_state_fn)(void *context);
/* How many bytes an item stands for. */
typedef uint64_t (*anabranch_weigh_fn)(void *context, void *item);
/* So many items have passed the end, so many nanoseconds after the start. */
typedef void (*anabranch_progress_fn)(void *context, uint64_t items, uint64_t nanoseconds);

/* ---- The library ---- */

/* ANABRANCH_ABI of the library. */
uint32_t anabranch_abi(void);
/* The library's version, such as "0.1.0". */
const char *anabranch_version(void);
/* What was wrong with this thread's last call that did not give ANABRANCH_OK. Valid until such a call comes again. */
const char *anabranch_last_error(void);
/* How many workers a stream has by default: ANABRANCH_WORKERS of the environment, else the processors. */
size_t anabranch_default_workers(void);
/* Frees a text that the library gave. NULL is allowed. */
void anabranch_text_free(char *text);

/* ---- Describing a stream ---- */

/* A stream without stages. Free it with anabranch_stream_free. */
anabranch_stream *anabranch_stream_new(void);
/* Frees a stream, and releases its contexts. One that was started and not finished ends first: what was sent is
 * finished, and an error is dropped. NULL is allowed. */
void anabranch_stream_free(anabranch_stream *stream);

/* Where items come from: asked by one thread at a time until it gives ANABRANCH_END. May block. */
int anabranch_source(anabranch_stream *stream, anabranch_source_fn next, void *context,
                     anabranch_destroy release, anabranch_destroy destroy);
/* A parallel stage: runs for several items at once. What it gives keeps the order of what it takes. */
int anabranch_map(anabranch_stream *stream, anabranch_stage_fn call, void *context,
                  anabranch_destroy release, anabranch_destroy destroy);
/* A serial stage: runs for one item after the other, in order, and may change its context. */
int anabranch_serial(anabranch_stream *stream, anabranch_stage_fn call, void *context,
                     anabranch_destroy release, anabranch_destroy destroy);
/* Gives each worker a state of its own for the parallel stage described last; `destroy` may be NULL. The state is made,
 * used and destroyed by its worker's thread. `make` gets the stage's context. */
int anabranch_state(anabranch_stream *stream, anabranch_state_fn make, anabranch_destroy destroy);
/* Stages described from here on take items as they are done, in any order. */
int anabranch_unordered(anabranch_stream *stream);
/* Says how errors are destroyed that nobody gets. */
int anabranch_errors(anabranch_stream *stream, anabranch_destroy destroy);

/* Numbers that anabranch_set sets. None changes what a stream gives. */
enum {
    ANABRANCH_WORKERS = 0,  /* threads that work; of a stream that runs, the caller is one. 1 to 65536 */
    ANABRANCH_WINDOW = 1,   /* items between the source and the end at once, at most. 1 to 2^31 */
    ANABRANCH_BURST = 2,    /* items that a worker claims at once. 1 to 2^31. By default as their cost asks */
    ANABRANCH_REPLICAS = 3, /* simultaneous calls of the parallel stage described last, at most. 1 to 65536 */
    ANABRANCH_SPIN = 4,     /* 1: waiting threads spin and never park. 0 by default */
    ANABRANCH_INLINE = 5,   /* 1: everything runs on the caller's thread, item by item. Not for sent items */
    ANABRANCH_REPORT = 6,   /* 1: the run is measured for anabranch_report */
    ANABRANCH_TRACE = 7     /* 1: the report has what each thread did and when */
};
int anabranch_set(anabranch_stream *stream, int setting, int64_t value);

/* Texts that anabranch_name sets. */
enum {
    ANABRANCH_TITLE = 0, /* of the stream: its threads are called so */
    ANABRANCH_STAGE = 1  /* of the stage described last, else of the source */
};
int anabranch_name(anabranch_stream *stream, int what, const char *text);

/* While the items in flight stand for `bytes` or more, by what `weigh` says of what the source gives, no more come in. */
int anabranch_window_bytes(anabranch_stream *stream, uint64_t bytes, anabranch_weigh_fn weigh, void *context,
                           anabranch_destroy release);
/* Calls `tell` at most ten times a second while the stream runs, and once at its end. */
int anabranch_on_progress(anabranch_stream *stream, anabranch_progress_fn tell, void *context,
                          anabranch_destroy release);
/* Lets a token stop the stream from outside. */
int anabranch_cancel_with(anabranch_stream *stream, anabranch_token *token);

/* ---- Running it ---- */

/* Runs the stream; returns when it has ended and none of its threads works. Gives ANABRANCH_FAILED and the error, if a
 * function has failed. A stream that was cancelled gives ANABRANCH_OK. `error` may be NULL. */
int anabranch_run(anabranch_stream *stream, void **error);

/* Starts a stream without a source, on threads of its own. */
int anabranch_start(anabranch_stream *stream, anabranch_destroy destroy);
/* Sends an item, and owns it whatever it gives. Waits while there is no room. ANABRANCH_STOPPED says that the stream has
 * ended, by a failure or a token: anabranch_finish tells which. */
int anabranch_send(anabranch_stream *stream, void *item);
/* Says that no more items come, waits until all are through, and gives what anabranch_run would have given. */
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
/* What will run, before it does. Free it with anabranch_text_free. NULL if that makes no sense. */
char *anabranch_plan(const anabranch_stream *stream, int format);
/* What did run, if ANABRANCH_REPORT was set. Free it with anabranch_text_free. NULL if there is none. */
char *anabranch_report(const anabranch_stream *stream, int format);

/* ---- Stopping it from outside ---- */

/* A token that stops nothing yet. Free it with anabranch_token_free, also before the streams that it reaches. */
anabranch_token *anabranch_token_new(void);
void anabranch_token_free(anabranch_token *token);
/* Ends the streams of the token now: what is in flight is dropped. */
void anabranch_token_cancel(anabranch_token *token);
/* Stops the sources of the streams of the token: what is in flight is finished. */
void anabranch_token_drain(anabranch_token *token);
/* 1 and what became of the items of the run that was stopped last; 0 before one was. */
int anabranch_token_stopped(const anabranch_token *token, uint64_t *delivered, uint64_t *dropped);

#ifdef __cplusplus
}
#endif

#endif
