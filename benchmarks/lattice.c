/* The lattice of Fermi, Pasta, Ulam and Tsingou as one would write it by hand: the peer of large_steps.py.

   Masses between quadratic and cubic springs, with fixed ends. With d_i = q_i - q_(i-1) a spring pulls with
   s_i = k d_i + alpha d_i^2. The midpoint rule carries position and momentum and solves for the step velocity V,

       r_i = p_i - m V_i + h/2 (s_(i+1) - s_i) at q + h V/2,

   with the exact Jacobian, which has three diagonals and is eliminated without pivoting, from the parabola through three earlier
   solutions; it ends with the step taken at an iterate whose residual is at most TOLERANCE of the size of its terms. */
#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-10
#define ITERATIONS 40

/* Advance by some steps of the midpoint rule; work has 9 n numbers, of which 3 n are the last three solutions. Gives the number
   of matrices that were eliminated, or -1. */
long midpoint(long n, double *q, double *p, double m, double k, double alpha, double h, long steps, double *work)
{
    double *v = work, *v1 = v + n, *v2 = v1 + n, *x = v2 + n, *r = x + n, *diagonal = r + n, *above = diagonal + n;
    double *force = above + n;
    long matrices = 0;
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < n; i++)
            x[i] = step < 3 ? (step ? v[i] : p[i] / m) : 3 * (v[i] - v1[i]) + v2[i];
        int last = 0;
        for (int turn = 0; !last; turn++) {
            double worst = 0, left = q[0] + h / 2 * x[0], s = k * left + alpha * left * left, slope = k + 2 * alpha * left;
            double here = left, before = 0;
            if (turn == ITERATIONS)
                return -1;
            for (long i = 0; i < n; i++) {
                double there = i + 1 < n ? q[i + 1] + h / 2 * x[i + 1] : 0, d = there - here;
                double t = k * d + alpha * d * d, next = k + 2 * alpha * d;
                force[i] = t - s;
                r[i] = p[i] - m * x[i] + h / 2 * (t - s);
                double size = fabs(p[i]) + fabs(m * x[i]) + h / 2 * (fabs(t) + fabs(s));
                if (fabs(r[i]) > worst * size)
                    worst = fabs(r[i]) / size;
                double below = h * h / 4 * slope; /* the elimination goes along */
                diagonal[i] = m + h * h / 4 * (slope + next) - (i ? below * before : 0);
                r[i] += i ? below * r[i - 1] : 0;
                r[i] /= diagonal[i];
                before = above[i] = h * h / 4 * next / diagonal[i];
                here = there, s = t, slope = next;
            }
            matrices++;
            last = worst <= TOLERANCE;
            double d = 0;
            for (long i = n - 1; i >= 0; i--) {
                d = r[i] + (i + 1 < n ? above[i] * d : 0);
                x[i] += d;
            }
        }
        double *oldest = v2;
        v2 = v1, v1 = v, v = oldest;
        double here = q[0] + h / 2 * x[0], s = k * here + alpha * here * here;
        for (long i = 0; i < n; i++) {
            double there = i + 1 < n ? q[i + 1] + h / 2 * x[i + 1] : 0, d = there - here, t = k * d + alpha * d * d;
            p[i] += h * (t - s);
            v[i] = x[i];
            here = there, s = t;
        }
        for (long i = 0; i < n; i++)
            q[i] += h * v[i];
    }
    return matrices;
}

/* Advance by some steps of Stormer and Verlet: half a kick, a drift, half a kick. */
long verlet(long n, double *q, double *p, double m, double k, double alpha, double h, long steps, double *work)
{
    double *force = work;
    for (long step = 0; step <= steps; step++) {
        double s = k * q[0] + alpha * q[0] * q[0];
        for (long i = 0; i < n; i++) {
            double d = (i + 1 < n ? q[i + 1] : 0) - q[i], t = k * d + alpha * d * d;
            force[i] = t - s;
            s = t;
        }
        double kick = step == 0 || step == steps ? h / 2 : h;
        for (long i = 0; i < n; i++)
            p[i] += kick * force[i];
        if (step < steps)
            for (long i = 0; i < n; i++)
                q[i] += h / m * p[i];
    }
    return steps;
}
