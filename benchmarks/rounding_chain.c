/* What compensated sums cost at least: a Stormer-Verlet step of Henon and Heiles' system, with and without the additions
 * that unbiased rounding needs between force and position, and between force and momentum.
 *
 * cc -O2 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off rounding_chain.c -o chain -lm && ./chain
 *
 * plain:        q + h v, p + h f by one fused operation each
 * one, two:     the same with an addition more on the way to q, and to q and p; no error is computed
 * compensated:  with the errors of both sums and of the velocity, carried along
 * late:         the error divided by h is added to the rate of the next step, so that each sum is one operation
 *
 * Then the mean change of the angular momentum of a stiffening spring per step, relative, over 8 motions. */
#include <math.h>
#include <stdio.h>
#include <time.h>
#define F __builtin_fma
#define RUN(name) static __attribute__((noinline)) void name(int spring, double h, long n, double *s)
#define BEGIN double x = s[0], y = s[1], p = s[2], q = s[3], e = s[4], c = h / 2; \
    double rx = e, ry = e, rp = e, rq = e; \
    if (spring) LOOP(SPRING_X, SPRING_Y) else LOOP(HEILES_X, HEILES_Y) \
    s[0] = x; s[1] = y; s[2] = p; s[3] = q; (void)c; (void)rx; (void)ry; (void)rp; (void)rq;
#define LOOP(FX, FY) for (long k = 0; k < n; k++) { \
    double f = FX(x, y), g = FY(x, y), X, Y, P, Q; STEP(FX, FY) x = X; y = Y; p = P; q = Q; \
    if (!(fabs(x) + fabs(y) + fabs(p) + fabs(q) < INFINITY)) break; }
#define HEILES_X(x, y) (-F((x) + (x), y, x))
#define HEILES_Y(x, y) (-F(-(y), y, F(x, x, y)))
#define SPRING_X(x, y) (-(x) * (1 + F(x, x, (y) * (y))))
#define SPRING_Y(x, y) (-(y) * (1 + F(x, x, (y) * (y))))

#define STEP(FX, FY) X = F(h, F(c, f, p), x); Y = F(h, F(c, g, q), y); \
    P = F(c, FX(X, Y), F(c, f, p)); Q = F(c, FY(X, Y), F(c, g, q));
RUN(plain) { BEGIN }
#undef STEP
#define STEP(FX, FY) X = x + F(h, F(c, f, p), e); Y = y + F(h, F(c, g, q), e); \
    P = F(c, FX(X, Y), F(c, f, p)); Q = F(c, FY(X, Y), F(c, g, q));
RUN(one) { BEGIN }
#undef STEP
#define STEP(FX, FY) X = x + F(h, F(c, f, p), e); Y = y + F(h, F(c, g, q), e); \
    P = p + F(c, FX(X, Y), F(c, f, e)); Q = q + F(c, FY(X, Y), F(c, g, e));
RUN(two) { BEGIN }
#undef STEP
#define STEP(FX, FY) double v = F(c, f, p), w = F(c, g, q), lv = F(c, f, p - v) + rp, lw = F(c, g, q - w) + rq; \
    X = x + F(h, v, rx); Y = y + F(h, w, ry); \
    rx = F(h, lv, F(h, v, x - X) + rx); ry = F(h, lw, F(h, w, y - Y) + ry); \
    double a = f + FX(X, Y), b = g + FY(X, Y); P = p + F(c, a, rp); Q = q + F(c, b, rq); \
    rp = F(c, a, p - P) + rp; rq = F(c, b, q - Q) + rq;
RUN(compensated) { BEGIN }
#undef STEP
#define STEP(FX, FY) double v = F(c, f, p) + rx, w = F(c, g, q) + ry; X = F(h, v, x); Y = F(h, w, y); \
    rx = F(h, v, x - X) * (1 / h); ry = F(h, w, y - Y) * (1 / h); \
    double a = f + (FX(X, Y) + rp), b = g + (FY(X, Y) + rq); P = F(c, a, p); Q = F(c, b, q); \
    rp = F(c, a, p - P) * (1 / c); rq = F(c, b, q - Q) * (1 / c);
RUN(late) { BEGIN }
#undef STEP

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }

int main(void) {
    void (*runs[])(int, double, long, double *) = {plain, one, two, compensated, late};
    const char *names[] = {"plain", "one", "two", "compensated", "late"};
    double best[5] = {1e9, 1e9, 1e9, 1e9, 1e9}, hs[] = {0.01, 0.05, 0.1, 1. / 30};
    for (int r = 0; r < 300; r++) for (int k = 0; k < 5; k++) {
        double s[5] = {.1, .2, .3, .1, 0}, began = now();
        runs[k](0, 0.01, 20000, s);
        best[k] = fmin(best[k], (now() - began) / 20000 * 1e9);
    }
    for (int k = 0; k < 5; k++) {
        printf("%-12s %5.2f ns, ratio %.2f; mean changes", names[k], best[k], best[k] / best[0]);
        for (int j = 0; j < 4; j++) {
            long double mean = 0;
            for (int l = 0; l < 8; l++) {
                double a = 0.3 + 0.77 * l, r = 0.91 + 0.023 * l, v = (0.93 + 0.041 * l) * (l % 2 ? 1 : -1);
                double s[5] = {r * cos(a), r * sin(a), -v * sin(a), v * cos(a), 0};
                long double L = (long double)s[0] * s[3] - (long double)s[1] * s[2];
                runs[k](1, hs[j], 1000000, s);
                mean += (((long double)s[0] * s[3] - (long double)s[1] * s[2]) / L - 1) / 8000000;
            }
            printf(" %.0Le", mean);
        }
        printf(" with h = 0.01, 0.05, 0.1, 1/30\n");
    }
}
