/* Call work(begin, end, data) for equal parts of the rows, one part on each thread. */

#include <pthread.h>

#define MOST_THREADS 256

typedef void (*Work)(long begin, long end, void *data);
typedef struct { Work work; long begin, end; void *data; } Part;

static void *run_part(void *given)
{
    const Part *part = given;
    part->work(part->begin, part->end, part->data);
    return 0;
}

static void in_parts(int threads, long rows, Work work, void *data)
{
    Part parts[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    int started[MOST_THREADS];
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    for (int t = 0; t < threads; t++) {
        parts[t].work = work;
        parts[t].data = data;
        parts[t].begin = rows * t / threads;
        parts[t].end = rows * (t + 1) / threads;
    }
    for (int t = 1; t < threads; t++) {
        started[t] = pthread_create(&others[t], 0, run_part, &parts[t]) == 0;
        if (!started[t]) run_part(&parts[t]);
    }
    run_part(&parts[0]);
    for (int t = 1; t < threads; t++)
        if (started[t]) pthread_join(others[t], 0);
}
