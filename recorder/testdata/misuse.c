/* Calls the recorder in C wrongly in each way that C allows, and prints the errors. See misuse_test.go. */
#define SAMESTEP_RECORDER_IMPLEMENTATION
#include "samestep_recorder.h"

static samestep_recorder rec, unopened;

static int discard(void *context, const void *data, size_t size) { return (void)context, (void)data, (void)size, 0; }

/* begin starts a recording, whose schema and sections any call may have. */
static samestep_recorder *begin(void) {
    static const char *const names[] = {"a", "b"};
    samestep_header h = {0};
    h.title = "Pong";
    h.tick_rate = 60;
    h.players = 2;
    h.sections = names;
    h.section_count = 2;
    h.state = "struct { X [2]uint32 }";
    if (samestep_record_begin(&rec, discard, NULL, &h) != 0) puts("no beginning");
    return &rec;
}

static void show(const char *name, samestep_recorder *r, int got) {
    const char *error = samestep_record_error(r);
    printf("%s: %d %s\n", name, got, error ? error : "no error");
    if (r && r != &unopened) samestep_record_close(r);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"a", NULL};
    samestep_header h = {0};
    samestep_recorder *r = &rec;
    if (argc != 2) return 2;
    h.title = "Pong";
    h.tick_rate = 60;
    h.players = 2;

    show("no header", r, samestep_record_begin(r, discard, NULL, NULL));
    show("no function", r, samestep_record_begin(r, NULL, NULL, &h));
    show("no path", r, samestep_record_open(r, NULL, &h));
    show("no folder", r, samestep_record_open(r, "/no/folder", &h));
    show("no header for a file", r, samestep_record_open(r, argv[1], NULL));
    h.section_count = 2;
    show("no sections", r, samestep_record_open(r, argv[1], &h));
    show("after a failed open", r, samestep_record_sum(r, 1, 0, 1, NULL, 0));
    h.sections = names;
    show("no name", r, samestep_record_begin(r, discard, NULL, &h));
    h.section_count = -1;
    show("sections below 0", r, samestep_record_begin(r, discard, NULL, &h));
    h.section_count = 0;
    h.title = NULL;
    show("no title", r, samestep_record_begin(r, discard, NULL, &h));

    begin();
    show("no payload", r, samestep_record_command(r, 1, 0, 1, NULL, 3));
    begin();
    show("no payload of 0 bytes", r, samestep_record_command(r, 1, 0, 1, NULL, 0));
    begin();
    show("no sums", r, samestep_record_sum(r, 1, 0, 1, NULL, 2));
    begin();
    show("sums below 0", r, samestep_record_sum(r, 1, 0, 1, NULL, -2));
    begin();
    show("no topic", r, samestep_record_note(r, 1, 0, NULL, "x"));
    begin();
    show("no text", r, samestep_record_note(r, 1, 0, "x", NULL));
    begin();
    show("no name of a phase", r, samestep_record_phase(r, 1, NULL, 1));
    samestep_record_phase(begin(), 1, NULL, 1);
    show("a sum after no name of a phase", r, samestep_record_sum(r, 1, 0, 1, NULL, 0));
    samestep_record_phase(begin(), 1, NULL, 1);
    show("close after no name of a phase", r, samestep_record_close(r));
    samestep_record_phase(begin(), 1, "move", 1);
    show("no name of a stream", r, samestep_record_draws(r, 1, NULL, 1));
    samestep_record_state_begin(begin(), 1, 0);
    show("a phase in a state", r, samestep_record_phase(r, 1, "move", 1));
    begin();
    show("no ticks", r, samestep_record_want(r, NULL));
    samestep_record_state_begin(begin(), 1, 0);
    show("no bytes", r, samestep_record_bytes(r, NULL, 8));
    samestep_record_state_begin(begin(), 1, 0);
    show("no bytes of 0", r, samestep_record_bytes(r, NULL, 0));
    samestep_record_state_begin(begin(), 1, 0);
    show("no text in a state", r, samestep_record_text(r, NULL, 1));
    samestep_record_state_begin(begin(), 1, 0);
    show("huge text", r, samestep_record_text(r, "x", 0xffffffffu));
    samestep_record_state_begin(begin(), 1, 0);
    show("huge bytes", r, samestep_record_bytes(r, "x", (size_t)-1));
    samestep_record_state_begin(begin(), 1, 0);
    show("a state in a state", r, samestep_record_state_begin(r, 2, 0));
    begin();
    show("a value without a state", r, samestep_record_u8(r, 1));
    begin();
    show("an end without a state", r, samestep_record_state_end(r));

    samestep_record_close(begin());
    show("after close", r, samestep_record_command(r, 1, 0, 1, "x", 1));
    samestep_record_close(begin());
    show("end after close", r, samestep_record_end(r, 1));
    samestep_record_close(begin());
    show("state after close", r, samestep_record_state_begin(r, 1, 0));
    samestep_record_close(begin());
    show("close after close", r, samestep_record_close(r));

    samestep_record_flush_every(&unopened, 3);
    show("wanted before open", &unopened, samestep_record_wanted(&unopened, 1));
    show("flush before open", &unopened, samestep_record_flush(&unopened));
    show("note before open", &unopened, samestep_record_note(&unopened, 1, SAMESTEP_NO_PLAYER, "x", "y"));
    memset(&unopened, 0, sizeof unopened);
    show("end before open", &unopened, samestep_record_end(&unopened, 1));
    memset(&unopened, 0, sizeof unopened);
    show("state before open", &unopened, samestep_record_state_begin(&unopened, 1, 0));
    memset(&unopened, 0, sizeof unopened);
    show("phase before open", &unopened, samestep_record_phase(&unopened, 1, "move", 1));
    memset(&unopened, 0, sizeof unopened);
    show("close before open", &unopened, samestep_record_close(&unopened));

    r = NULL;
    show("NULL", r, samestep_record_phase(r, 1, "x", 1) & samestep_record_draws(r, 1, "x", 1) & samestep_record_open(r, argv[1], &h) & samestep_record_begin(r, discard, NULL, &h) & samestep_record_command(r, 1, 0, 1, "x", 1) &
                        samestep_record_sum(r, 1, 0, 1, NULL, 0) & samestep_record_note(r, 1, 0, "x", "y") & samestep_record_want(r, "1") &
                        samestep_record_state_begin(r, 1, 0) & samestep_record_u8(r, 1) & samestep_record_state_end(r) & samestep_record_end(r, 1) &
                        samestep_record_flush(r) & samestep_record_close(r));
    samestep_record_flush_every(r, 1);
    return samestep_record_wanted(r, 1);
}
