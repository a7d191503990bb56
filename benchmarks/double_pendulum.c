/* The double pendulum by the midpoint rule, as one would write it by hand: the peer of step_cost.py.

   The scheme is the library's, so that the two times compare the code and nothing else: position and momentum are
   carried, the unknown is the step velocity V with q1 = q0 + h V, Newton's method has the exact Jacobian, begins at the
   sum of three backward differences of V, and of more while each is less than a quarter of the one before, and ends with the step taken at an
   iterate whose residual is at most TOLERANCE of the size of its terms, or with one that, going by how the residual
   last shrank, leaves at most SQUARED. With t the angles at the middle of the step, d = t2 - t1, and A, B, C, a, b below:

       r1 = p1 - A V1 - C V2 cos d - h/2 a sin t1 + h/2 C V1 V2 sin d
       r2 = p2 - B V2 - C V1 cos d - h/2 b sin t2 - h/2 C V1 V2 sin d
*/
#include <math.h>

#define TOLERANCE 1e-10
#define SQUARED 1e-17
#define NEAR 1e-5
#define ITERATIONS 40
#define HISTORY 5

typedef struct {
    double q1, q2, p1, p2;
    double v1[HISTORY], v2[HISTORY]; /* backward differences of the step velocities */
    long seen;                       /* how many of them are valid */
} Motion;

typedef struct {
    double m1, m2, l1, l2, g;
} Arms;

/* Advance by some steps; gives the number of Newton iterations, or -1 if a step has no solution. */
long advance(Motion *motion, const Arms *arms, double h, long steps)
{
    const double A = (arms->m1 + arms->m2) * arms->l1 * arms->l1;
    const double B = arms->m2 * arms->l2 * arms->l2;
    const double C = arms->m2 * arms->l1 * arms->l2;
    const double half = h / 2;
    const double a = half * (arms->m1 + arms->m2) * arms->g * arms->l1;
    const double b = half * arms->m2 * arms->g * arms->l2;
    const double hC = half * C;

    double q1 = motion->q1, q2 = motion->q2, p1 = motion->p1, p2 = motion->p2;
    double x[HISTORY], y[HISTORY]; /* backward differences of V1 and of V2 */
    for (int j = 0; j < HISTORY; j++)
        x[j] = motion->v1[j], y[j] = motion->v2[j];
    long seen = motion->seen, iterations = 0;

    for (long k = 0; k < steps; k++) {
        int terms = (int)seen;
        if (seen > 3) {
            terms = 3;
            for (int j = 4; j < seen && fabs(x[j]) + fabs(y[j]) < 0.25 * (fabs(x[j - 1]) + fabs(y[j - 1])); j++)
                terms = j;
        }
        double V1 = x[0], V2 = y[0], last = INFINITY;
        for (int j = 1; j < terms; j++)
            V1 += x[j], V2 += y[j];

        int turn = 0, found = 0;
        while (!found) {
            if (turn++ == ITERATIONS)
                return -1;
            const double t1 = q1 + half * V1, t2 = q2 + half * V2;
            const double s1 = sin(t1), c1 = cos(t1), s2 = sin(t2), c2 = cos(t2);
            const double s = sin(t2 - t1), c = cos(t2 - t1);
            const double W = hC * V1 * V2;

            const double r1 = p1 - A * V1 - C * V2 * c - a * s1 + W * s;
            const double r2 = p2 - B * V2 - C * V1 * c - b * s2 - W * s;
            const double size1 = fabs(p1) + fabs(A * V1) + fabs(C * V2 * c) + fabs(a * s1) + fabs(W * s);
            const double size2 = fabs(p2) + fabs(B * V2) + fabs(C * V1 * c) + fabs(b * s2) + fabs(W * s);
            const double rho = fmax(fabs(r1) / size1, fabs(r2) / size2), ratio = rho / last;
            found = rho <= TOLERANCE || (turn > 1 && rho <= NEAR && rho * ratio * ratio <= SQUARED);
            last = rho;

            const double bend = half * W * c;
            const double twist = hC * (V1 + V2) * s;
            double j11 = -A - half * a * c1 - bend, j12 = -C * c + twist + bend;
            double j21 = -C * c - twist + bend, j22 = -B - half * b * c2 - bend;
            double d1 = -r1, d2 = -r2;
            if (fabs(j21) > fabs(j11)) {
                double swap;
                swap = j11, j11 = j21, j21 = swap;
                swap = j12, j12 = j22, j22 = swap;
                swap = d1, d1 = d2, d2 = swap;
            }
            const double factor = j21 / j11;
            d2 = (d2 - factor * d1) / (j22 - factor * j12);
            d1 = (d1 - j12 * d2) / j11;
            V1 += d1;
            V2 += d2;
        }
        iterations += turn;

        const double t1 = q1 + half * V1, t2 = q2 + half * V2;
        const double s = sin(t2 - t1), c = cos(t2 - t1);
        const double W = hC * V1 * V2;
        p1 = A * V1 + C * V2 * c - a * sin(t1) + W * s;
        p2 = B * V2 + C * V1 * c - b * sin(t2) - W * s;
        q1 += h * V1;
        q2 += h * V2;
        double d1 = V1, d2 = V2;
        for (int j = 0; j < HISTORY; j++) {
            const double e1 = d1 - x[j], e2 = d2 - y[j];
            x[j] = d1, y[j] = d2;
            d1 = e1, d2 = e2;
        }
        seen += seen < HISTORY;
    }

    *motion = (Motion){.q1 = q1, .q2 = q2, .p1 = p1, .p2 = p2, .seen = seen};
    for (int j = 0; j < HISTORY; j++)
        motion->v1[j] = x[j], motion->v2[j] = y[j];
    return iterations;
}
