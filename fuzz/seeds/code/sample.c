#include <stdio.h>
#define OPEN {

struct store;
static int limit = 3;

/* A row. */
typedef struct row {
    char *key;
} row;

int prototype(void);

static const char *
name(struct store *s)
{
    return "}";
}

// Reads.
int get(struct store *s, const char *key) {
    if (key[0] == '}') {
        return 1;
    }
    return 0;
}
