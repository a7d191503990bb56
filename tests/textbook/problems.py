"""Every worked example and proposed problem of the two documents: where it lives and what is checked.

`TABLE` is read by the tests of this folder, which hold every check to its bound, and by docs/make_textbook.py, which runs
them and writes the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from . import released, worked
from .measures import Fixture, equations, kept, later, printed

DIGITS = 6e-10
"""Half a unit of the ninth decimal, with some room for the rounding of the state."""
CLOSED = 1e-12
"""Relative distance from equations or formulas that are exact."""
MOTION = 5e-9
"""Distance from motions printed with nine decimals and computed to a tolerance of 1e-12."""


@dataclass(frozen=True)
class Check:
    """What is compared, the error as a function, and the largest error allowed."""

    what: str
    error: Callable[..., float]
    allowed: float


@dataclass(frozen=True)
class Entry:
    """One example or problem."""

    document: str
    number: str
    title: str
    lives: str
    """Names of gallery systems, or the test that holds it."""
    checks: tuple[Check, ...]

    @property
    def key(self) -> str:
        return f"{self.document} {self.number}"


def stated(fixture: Fixture) -> tuple[Check, ...]:
    """The checks that every gallery system with a fixture has."""
    checks = [Check("the printed equations of motion, at five states", partial(equations, fixture), CLOSED)]
    if fixture.accelerations or fixture.multipliers or fixture.energy is not None:
        parts = ["accelerations"] * bool(fixture.accelerations) + ["multipliers"] * bool(fixture.multipliers)
        parts += ["energy"] * (fixture.energy is not None)
        digits = DIGITS * 10 ** (9 - fixture.decimals)
        checks.insert(0, Check(f"{', '.join(parts)}, to the printed digits", partial(printed, fixture), digits))
    if fixture.later:
        checks.append(Check(f"the motion at t = {fixture.later[0]:g}", partial(later, fixture), MOTION))
    return tuple(checks)


def conserved(fixture: Fixture, until: float = 1.0, energy: bool = True) -> Check:
    what = "energy and invariants" if energy else "invariants"
    return Check(f"{what} along a motion", partial(kept, fixture, until, energy), 1e-9)


FIXTURES = {
    f.system: f
    for f in (
        Fixture("block-on-incline", accelerations=(4.7088, -3.5316), multipliers=(7.53408,)),
        Fixture("block-and-hanging-weight", accelerations=(6.54, 0, 0, -6.54), multipliers=(9.81, 6.54, 0)),
        Fixture("pendulum-cartesian"),
        Fixture("double-pendulum-cartesian", multipliers=(-5.59660831, -4.19462298), decimals=8),
        Fixture("particle-on-moving-circle"),
        Fixture("poggendorff-pulleys", accelerations=(-2.263846154, 6.791538462)),
        Fixture("half-disc-rolling", accelerations=(-3.315394867,), energy=11.576303803,
                later=(1.0, (-0.361835526,), (-1.27329648,))),
        Fixture("double-pendulum", (0.6, -0.3), (0.4, 1.1), (-12.270306659, 11.376493773), energy=-33.148572517,
                later=(1.0, (0.378542247, -0.546716229), (-0.183009329, -1.706621628)),
                parameters={"m1": 1.0, "m2": 2.0, "l1": 0.8, "l2": 0.8}),
        Fixture("cart-pendulum", accelerations=(5.671477963, -12.77501927), energy=-12.686424853,
                later=(1.0, (0.678662687, 0.185852258), (-1.369326714, 3.32996678))),
        Fixture("cart-pendulum-driven", accelerations=(-6.92392833,), energy=-13.587067812,
                later=(1.0, (-0.609381053,), (0.170891123,))),
        Fixture("oscillator-on-moving-base"),
        Fixture("spring-on-rotating-disc", accelerations=(5.179014201, -4.73968186), energy=-5.081408521,
                later=(1.0, (0.667377209, -0.627623191), (0.773088713, 0.77326251))),
        Fixture("hoop-on-incline", accelerations=(2.351582267, 6.718806477), multipliers=(2.82189872,)),
        Fixture("rod-with-knife-edge", accelerations=(-0.22780973, 0.538820681, -1.4625), multipliers=(1.404,),
                later=(1.0, (0.485647903, 1.002148573, 1.133467754), (0.362088659, 1.09597145, 0.340389342))),
        Fixture("wedge-and-disc", accelerations=(-2.802857143, 5.945757877)),
        Fixture("rod-on-driven-knives", multipliers=(-5.04,)),
        Fixture("disc-with-slot-and-pendulum", accelerations=(16.257285814, -21.951153663, -0.844004578)),
        Fixture("pendulum-on-circle", accelerations=(6.918898336, -12.299599222)),
        Fixture("hung-hoop-with-pulled-bead", accelerations=(-0.616618667, -6.925245623), time=0.3),
        Fixture("bead-on-rotating-hoop", accelerations=(-1.960427073,)),
        Fixture("sliding-ladder-with-bead", accelerations=(7.154281441, 3.872368421), energy=8.155880843,
                later=(0.3, (0.335434497, 0.639802638), (2.333906827, 0.412709223))),
        Fixture("turning-hoop-with-bead", accelerations=(-5.106058988, -0.485371947)),
        Fixture("double-pendulum-in-rotating-plane", accelerations=(-16.783772411, 18.670319889), energy=-17.869570359,
                later=(1.0, (0.466315447, -0.588312375), (0.222783994, -2.332202063))),
        Fixture("spring-pendulum-on-slider", accelerations=(2.388341223, -1.770616291, 14.168077214)),
        Fixture("hoop-rolling-in-hoop", accelerations=(-3.133060572, 1.620737752), energy=-23.510390802),
        Fixture("rod-on-two-axes", accelerations=(6.587686636, -1.754035136)),
        Fixture("disc-with-pendulum-on-incline", accelerations=(4.568190333, -9.685203111)),
        Fixture("half-disc-in-turning-plane"),
        Fixture("particles-through-cone", accelerations=(-0.43636015, -0.28, -6.750231263, -1.325463708)),
        Fixture("disc-under-leaning-rod", accelerations=(-0.733674599,)),
        Fixture("bar-with-knife-edge", accelerations=(-0.113904865, 0.269410341, -2.19375), multipliers=(0.351,),
                later=(1.0, (0.570750464, 0.905097803, 0.987389618), (0.531884739, 0.941158532, 0.186375462))),
        Fixture("semi-hoop-on-line-with-bead", accelerations=(1.955434242, -4.706821308, 9.895722683)),
        Fixture("two-pulleys-with-spring", accelerations=(8, -10)),
        Fixture("disc-with-driven-rod", accelerations=(1.275390531, -7.354415992), time=0.3,
                later=(1.0, (0.569350633, 0.01239145), (0.449613708, 0.086978415))),
        Fixture("hung-hoop-with-bead-on-spring", accelerations=(-6.273766645, 15.784601758)),
        Fixture("disc-rolling-in-hung-hoop", accelerations=(-3.341823521, 6.01778209)),
        Fixture("binary-with-linear-attraction"),
        Fixture("plate-hung-from-trolley", accelerations=(2.30535756, -9.302295455)),
        Fixture("rolling-semicircle-with-particle", accelerations=(-6.027246052, 8.979218335)),
        Fixture("two-discs-on-incline", accelerations=(3.135443022, -2)),
    )
}  # fmt: skip
"""The state and the numbers printed for every gallery system of the two documents."""

AT_REST = Fixture(
    "spring-pendulum-on-slider", (0.0, 0.6, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 16.35),
    later=(0.5, (0.120828291, 1.161948813, 1.257287182), (0.992518321, 2.65845197, 2.537653711)),
)  # fmt: skip
UNEQUAL = Fixture(
    "double-pendulum", (0.4, 1.2), (0.3, -0.8), (0.78230216, -14.01980052),
    parameters={"m1": 0.9, "m2": 1.7, "l1": 1.1, "l2": 0.7},
)  # fmt: skip
HALF_DISC = Fixture("rolling-semicircle-with-particle", parameters={"d": 4 * 0.9 / (3 * 3.141592653589793), "I": 0.81})
PUSHED = Fixture("turning-hoop-with-bead", parameters={"N": 0.7})


@cache
def of(name: str) -> tuple[Check, ...]:
    return stated(FIXTURES[name])


def entry(
    document: str, number: str, title: str, lives: str, *checks: Check, energy: bool | None = None, until: float = 1.0
) -> Entry:
    """An entry; one that lives in the gallery has the checks of its systems besides its own."""
    names = [n for n in lives.split(", ") if n in FIXTURES]
    shared = [c for n in names for c in of(n)]
    if energy is not None:
        shared += [conserved(FIXTURES[n], until, energy) for n in names]
    return Entry(document, number, title, lives, (*shared, *checks))


NOTES = (
    entry("003", "example 1", "block resting on a table", "test_003_examples.py",
          Check("the reaction is minus the weight", worked.table, CLOSED)),
    entry("003", "example 2", "block on a smooth incline", "block-on-incline",
          Check("N = m g cos(slope), normal to the line", worked.incline, CLOSED), energy=True),
    entry("003", "example 2'", "incline by d'Alembert and a multiplier", "block-on-incline",
          Check("lambda = 7.53408, N = 9.4176", worked.incline, CLOSED)),
    entry("003", "example 3", "two blocks and a pulley", "block-and-hanging-weight",
          Check("the reactions do no virtual work", worked.pulley_work, CLOSED), energy=True),
    entry("003", "example 4", "free particle in space", "test_003_examples.py",
          Check("three coordinates, uniform motion", worked.free_particle, CLOSED)),
    entry("003", "example 5", "particle on a fixed circle", "pendulum-cartesian",
          Check("R theta.ddot = -g cos(theta)", worked.circle_angle, CLOSED)),
    entry("003", "example 6", "double pendulum", "double-pendulum-cartesian",
          Check("tensions of the rods", worked.tensions, 6e-8),
          Check("angles: the printed accelerations", partial(printed, UNEQUAL), 6e-9), energy=True),
    entry("003", "example 7", "disc rolling on a plane, announced", "rolling-disk",
          Check("the path is a circle", worked.disc_circle, 1e-9)),
    entry("003", "example 8", "particle on a moving circle", "particle-on-moving-circle",
          Check("lambda, accelerations, power of the reaction", worked.moving_circle_power, 6e-8)),
    entry("003", "example 9", "classes of constraints", "test_003_examples.py",
          Check("constraints put into the wrong class", worked.kinds, 0.5)),
    entry("003", "gas in a container", "walls as inequalities", "test_003_examples.py",
          Check("motion between walls, by events", worked.gas, 1e-9)),
    entry("003", "example 10", "upright disc rolling on a plane", "rolling-disk",
          Check("multipliers and accelerations", worked.disc_reactions, CLOSED),
          Check("no integrating factor: residuals of the identity", worked.disc_forms, CLOSED),
          Check("growth vector (2, 3, 4), determinant -a^2", worked.disc_growth, CLOSED)),
    entry("003", "parking a car", "two local controls reach every place", "car",
          Check("growth vector (2, 3, 4)", worked.parking, CLOSED)),
    entry("003", "sphere chart", "(theta, phi) does not cover theta = 0", "spherical-pendulum",
          Check("the chart is refused at the pole only", worked.sphere_chart, 0.5)),
)  # fmt: skip

EXAMPLES = (
    entry("004", "example 7.1", "double pendulum, coordinates", "double-pendulum-cartesian, double-pendulum"),
    entry("004", "example 7.2", "pendulum with a base of constant velocity", "cart-pendulum-driven",
          Check("motion as on a base at rest", worked.driven_energy, 1e-9)),
    entry("004", "example 7.3", "two particles on a rod with a knife edge", "rod-with-knife-edge",
          Check("(7.3) from the ends of the rod", worked.knife_in_ends, CLOSED)),
    entry("004", "example 7.4", "Poggendorff's pulleys", "poggendorff-pulleys", energy=True),
    entry("004", "example 7.5", "half-disc rolling", "half-disc-rolling",
          Check("small oscillations", worked.small_swing, 1e-6), energy=True),
    entry("004", "example 7.6", "double pendulum with rods", "double-pendulum", energy=True),
    entry("004", "example 7.7", "cart and pendulum, free and driven", "cart-pendulum, cart-pendulum-driven",
          Check("the Routhian", worked.cart_routh, DIGITS),
          Check("h of the driven cart, corrected (7.50)", worked.driven_energy, 1e-9),
          Check("power of the driving force", worked.driven_power, 1e-8), energy=True),
    entry("004", "example 7.8", "Noether: translations", "test_004_examples.py",
          Check("the charge is P_x and stays", partial(worked.noether, "translation"), 1e-10)),
    entry("004", "example 7.9", "Noether: rotations", "test_004_examples.py",
          Check("the charge is -H_z and stays", partial(worked.noether, "rotation"), 1e-10)),
    entry("004", "example 7.10", "mass on a spring on a moving base", "oscillator-on-moving-base",
          Check("h and T2 + V", worked.moving_base_integrals, 1e-9), energy=True),
    entry("004", "example 7.11", "mass on a spring on a rotating disc", "spring-on-rotating-disc",
          Check("T2, T1, T0 and gamma", worked.gyroscopic, CLOSED),
          Check("relative equilibrium", worked.resting_on_disc, CLOSED), energy=True),
    entry("004", "example 7.12", "hoop rolling down an incline", "hoop-on-incline",
          Check("generalised reactions", worked.hoop_reactions, CLOSED), energy=True),
    entry("004", "example 7.13", "rod with a knife edge, dynamics", "rod-with-knife-edge",
          Check("u = U tanh(U (t - t0)/l)", worked.knife_closed_form, 1e-9), energy=True),
    entry("004", "example 7.14", "brachistochrone", "test_004_examples.py",
          Check("cycloid, its time, that of a line", worked.brachistochrone, DIGITS),
          Check("a bead on the cycloid", worked.cycloid_by_motion, 1e-10)),
)  # fmt: skip

PROBLEMS = (
    entry("004", "problem 7.1", "wedge and disc", "wedge-and-disc",
          Check("normal force and friction", released.wedge, DIGITS), energy=True),
    entry("004", "problem 7.2", "two masses on two knives, driven", "rod-on-driven-knives", energy=True),
    entry("004", "problem 7.3", "disc with a slot and a pendulum", "disc-with-slot-and-pendulum",
          Check("free fall; singular where the rod is vertical", worked.slot_falls, 1e-10), energy=True, until=0.15),
    entry("004", "problem 7.4", "rod with its joint on a circle", "pendulum-on-circle",
          Check("driven: drag potential and h", worked.driven_tangent_rod, 1e-9), energy=True, until=0.2),
    entry("004", "problem 7.5", "hung hoop with a pulled bead", "hung-hoop-with-pulled-bead",
          Check("constant F: E + 2 R F cos(phi/2)", worked.constant_pull, 1e-9),
          Check("reaction of the hoop", released.pulled_bead, DIGITS)),
    entry("004", "problem 7.6", "bead on a rotating semi-hoop", "bead-on-rotating-hoop",
          Check("smallest speed from the bottom", worked.smallest_speed, 0.5),
          Check("smallest speed from half way", partial(worked.smallest_speed, 1.5707963267948966,
                                                        2 * 9.81 * 0.9 + 9 * 0.81), 0.5),
          Check("reactions", released.rotating_hoop, DIGITS), energy=True),
    entry("004", "problem 7.7", "sliding ladder with a bead", "sliding-ladder-with-bead",
          Check("reaction of the rod", released.ladder, DIGITS), energy=True, until=0.3),
    entry("004", "problem 7.8", "hoop with a bead and a torque", "turning-hoop-with-bead",
          Check("with a torque: the printed equations", partial(equations, PUSHED), CLOSED),
          Check("p_psi changes by the integral of N", worked.any_torque, 1e-9),
          Check("p_psi eliminated (Routh)", worked.hoop_routh, DIGITS),
          Check("torque for constant rate", released.turning_hoop, DIGITS), energy=True),
    entry("004", "problem 7.9", "two rods in a rotating plane", "double-pendulum-in-rotating-plane",
          Check("tension and normal force", released.rotating_plane, DIGITS), energy=True),
    entry("004", "problem 7.10", "two particles joined by a spring", "spring-pendulum-on-slider",
          *stated(AT_REST)[:1], stated(AT_REST)[-1],
          Check("determinant of the mass matrix", worked.determinants, CLOSED), energy=True),
    entry("004", "problem 7.11", "hoop rolling inside a hoop", "hoop-rolling-in-hoop", energy=True),
    entry("004", "problem 7.12", "two masses on axes of a rotating plane", "rod-on-two-axes",
          Check("torque for constant rate", released.two_axes, DIGITS), energy=True),
    entry("004", "problem 7.13", "disc with a pendulum and viscous forces", "disc-with-pendulum-on-incline",
          Check("the power that is lost", worked.lost_power, 1e-9)),
    entry("004", "problem 7.14", "half-disc in a rotating plane", "half-disc-in-turning-plane",
          Check("equivalent length; constant rate", worked.plate_length, DIGITS), energy=True),
    entry("004", "problem 7.15", "two particles and a cone", "particles-through-cone",
          Check("range of lam", released.cone_range, 2e-8),
          Check("v0 and the normal force", released.cone, 2e-9), energy=True, until=0.6),
    entry("004", "problem 7.16", "disc and leaning rod", "disc-under-leaning-rod",
          Check("forces at A and B", released.leaning_rod, DIGITS), energy=True, until=0.5),
    entry("004", "problem 7.17", "bar with a knife edge", "bar-with-knife-edge",
          Check("u = U tanh(3 U (t - t0)/(2 l))",
                partial(worked.knife_closed_form, "bar-with-knife-edge", 4 / 3), 1e-9), energy=True),
    entry("004", "problem 7.18", "semi-hoop on a line with a bead", "semi-hoop-on-line-with-bead",
          Check("reactions", released.semi_hoop, DIGITS), energy=True),
    entry("004", "problem 7.19", "two pulleys joined by a thread with a spring", "two-pulleys-with-spring",
          Check("omega^2 of the elongation", worked.pulleys_rate, 6e-8), energy=True),
    entry("004", "problem 7.20", "disc with a rod and a harmonic force", "disc-with-driven-rod",
          Check("tangential reaction", released.driven_rod, DIGITS), energy=False),
    entry("004", "problem 7.21", "hung hoop with a bead on a spring", "hung-hoop-with-bead-on-spring", energy=True),
    entry("004", "problem 7.22", "disc rolling inside a hung hoop", "disc-rolling-in-hung-hoop", energy=True),
    entry("004", "problem 7.23", "binary system with linear attraction", "binary-with-linear-attraction",
          Check("d: momenta and ellipses in Cartesian coordinates", worked.binary_momenta, 1e-9), energy=True),
    entry("004", "problem 7.24", "plate hung from a trolley", "plate-hung-from-trolley",
          Check("b: way and speed of the trolley", worked.trolley_released, 2e-9), energy=False),
    entry("004", "problem 7.25", "rolling semicircle with a particle", "rolling-semicircle-with-particle",
          Check("half-disc: the printed equations", partial(equations, HALF_DISC), CLOSED), energy=True),
    entry("004", "problem 7.26", "two discs joined by a spring", "two-discs-on-incline",
          Check("let go relaxed, it stays relaxed", worked.relaxed_discs, CLOSED),
          Check("reaction on one disc", released.two_discs, CLOSED), energy=True),
)  # fmt: skip

TABLE = (*NOTES, *EXAMPLES, *PROBLEMS)
"""All of them, in the order of the documents."""


def unique(entries: tuple[Entry, ...]) -> list[tuple[str, Check]]:
    """The checks of some entries, each once, with the first place where it stands."""
    found: dict[int, tuple[str, Check]] = {}
    for e in entries:
        for check in e.checks:
            found.setdefault(id(check), (f"{e.key}: {check.what}", check))
    return list(found.values())
