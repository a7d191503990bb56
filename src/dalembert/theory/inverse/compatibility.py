"""What self-conjugacy implies for the matrices G = dF/da and H alone.

With A_ac = G_qc A^q_a, B_ac = G_qc B^q_a and H_ac the entry in row c, column a of H:

    dG_ca/da_q = 0,   C_acq = dG_cq/dv_a is the same in all orders of its indices
    dH_ac/da_q = 0,   dH_ac/dv_q = dG_cq/dx_a - dG_aq/dx_c - dZ_ac/da_q
    dH_aq/dx_c + dH_qc/dx_a + dH_ca/dx_q = 0
    Z_ac = -(R^q_a dF_c/dv_q - R^q_c dF_a/dv_q + B_ac - B_ca)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ...symbolic import Fast, fast, gradient, jacobian, total
from .along_motion import Square, two_forms
from .variational_forms import VariationalForms

Residual = tuple[str, str, tuple[int, ...], Fast]


def antisymmetric_part(forms: VariationalForms) -> Square:
    """H_ac = 1/2 (dF_c/dv_a - dF_a/dv_c) + 1/2 (A_ac - A_ca), row a, column c (4.16')."""
    n, slopes = len(forms.coordinates), forms.G1
    return [[(slopes[c][a] - slopes[a][c]) / 2 for c in range(n)] for a in range(n)]


def generalised_curl(forms: VariationalForms) -> Square:
    """Z_ac (4.14'), row a, column c."""
    n, q = len(forms.coordinates), forms.coordinates
    by_velocity = jacobian([fast(F) for F in forms.residuals], [x.dot for x in q])

    def turned(a: int, c: int) -> Fast:
        parts = []
        if forms.R is not None:
            parts += [fast(forms.R[k][a]) * by_velocity[c][k] for k in range(n)]
        if forms.B is not None:
            parts += [forms.G2[k][c] * fast(forms.B[k][a]) for k in range(n)]
        return total(parts)

    return [[turned(c, a) - turned(a, c) for c in range(n)] for a in range(n)]


def compatibility_residuals(forms: VariationalForms) -> Iterator[Residual]:
    """Name, formula, places from 1, and what should vanish."""
    q = forms.coordinates
    n, H, Z, G = len(q), antisymmetric_part(forms), generalised_curl(forms), forms.G2
    velocities, accelerations = [x.dot for x in q], [x.ddot for x in q]
    for c in range(n):
        for a in range(c, n):
            for k, d in enumerate(gradient(G[c][a], accelerations)):
                yield "G without accelerations", "dG_ca/da_q = 0", (c + 1, a + 1, k + 1), d
    for a, c in two_forms(n):
        for k in range(n):
            C = [gradient(G[c][k], [velocities[a]])[0], gradient(G[a][k], [velocities[c]])[0]]
            yield "G closed in velocities", "dG_cq/dv_a = dG_aq/dv_c", (a + 1, c + 1, k + 1), C[0] - C[1]
            yield (
                "H without accelerations",
                "dH_ac/da_q = 0",
                (a + 1, c + 1, k + 1),
                gradient(H[a][c], accelerations)[k],
            )
            slope = gradient(H[a][c], velocities)[k] + gradient(Z[a][c], accelerations)[k]
            turned = gradient(G[c][k], [q[a]])[0] - gradient(G[a][k], [q[c]])[0]
            yield (
                "H by velocities",
                "dH_ac/dv_q = dG_cq/dx_a - dG_aq/dx_c - dZ_ac/da_q",
                (a + 1, c + 1, k + 1),
                slope - turned,
            )
    for a, c, k in combinations(range(n), 3):
        cyclic = total([gradient(H[i][j], [q[m]])[0] for i, j, m in ((a, k, c), (k, c, a), (c, a, k))])
        yield "H closed", "dH_aq/dx_c + dH_qc/dx_a + dH_ca/dx_q = 0", (a + 1, c + 1, k + 1), cyclic
