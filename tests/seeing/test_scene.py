"""What a system looks like: items, what they accept, where they are kept."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin
from dalembert.draw.default_scene import scene_of
from dalembert.model import serial

theta, x, y, z = da.coordinates("theta x y z")
m, l, g, k = da.parameters("m l g k", positive=True)
TIP = [l * sin(theta), -l * cos(theta)]


def pendulum(**more):
    return da.System(
        "pendulum", [theta], kinetic=m * l**2 * theta.dot**2 / 2, potential=-m * g * l * cos(theta), **more
    )


def one_of_each():
    s = da.scene
    return [
        s.Point(TIP, size=2, label="bob"), s.Rod([0, 0], TIP, colour="#112233"), s.Spring([0, 0], TIP, coils=3),
        s.Rope([[0, 0], [1, 0], TIP]), s.Polygon([[0, 0], [1, 0], TIP]), s.Disc(TIP, 0.1 * l, theta), s.Wheel(TIP, l / 10),
        s.Hoop(TIP, l, theta, 0, theta), s.Sphere(TIP, l / 10, theta), s.Box(TIP, [l, 0.5], theta), s.Blade(TIP, TIP, l),
        s.Ground(), s.Gas([0, 0], TIP, l, theta**2), s.Vector(TIP, [theta.dot, 0], kind="force"), s.Trail(TIP),
        s.Axes(TIP, theta),
    ]  # fmt: skip


def test_there_is_one_of_each():
    assert {type(i).__name__ for i in one_of_each()} == set(da.scene.ITEMS)


def test_a_scene_is_kept_by_files_and_replace():
    system = pendulum(scene=one_of_each())
    assert serial.loads(serial.dumps(system)).scene == system.scene
    assert system.replace(dissipation=theta.dot**2).scene == system.scene
    assert system.replace(scene=None).scene == ()


def test_a_scene_that_does_not_fit_the_change_is_left_out():
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, scene=[da.scene.Point([x, y])])
    assert free.replace(coordinates=[x], kinetic=m * x.dot**2 / 2, forces={}).scene == ()


def test_scenes_do_not_make_systems_different():
    assert pendulum() == pendulum(scene=one_of_each()) and hash(pendulum()) == hash(pendulum(scene=one_of_each()))


def test_decimals_are_exact():
    (disc,) = pendulum(scene=[da.scene.Disc(TIP, 0.1 * l)]).scene
    assert disc.radius == l / 10


def test_composed_systems_show_all_parts():
    other = da.System("slider", [x], kinetic=m * x.dot**2 / 2, scene=[da.scene.Point([x, 0])])
    assert len(da.bodies.compose("both", pendulum(scene=[da.scene.Point(TIP)]), other).scene) == 2


def test_old_files_have_no_scene():
    text = serial.dumps(pendulum())
    assert '"scene": []' in text
    assert serial.loads(text.replace(', "scene": []', "")).scene == ()


MESSAGES = [
    (lambda: pendulum(scene=[da.scene.Point([x, 0])]), r"scene of 'pendulum': Point: unknown symbol x .*Known here: g, l, m"),
    (lambda: pendulum(scene=[da.scene.Rod([0, 0], [k, 0])]), r"Rod: k in k is no symbol of the system.*Write a number"),
    (lambda: pendulum(scene="rod"), r"scene: got 'rod'. Expected a list: scene=\[dalembert.scene.Point"),
    (lambda: pendulum(scene=[1]), r"scene: got 1 \(int\). Expected items of dalembert.scene: Point, Rod"),
    (lambda: da.scene.Point(x), r"scene: Point \(at\): got x. Expected a list of two expressions"),
    (lambda: da.scene.Rope([[0, 0]]), r"scene: Rope \(points\): got 1 places. Expected two or more"),
    (lambda: da.scene.Rod([0, 0], [1, 0], width=-1), r"scene: Rod \(width\): got -1. Expected a positive number"),
    (lambda: da.scene.Rod([0, 0], [1, 0], colour="red"), r"scene: Rod \(colour\): got 'red'. Expected a colour such as"),
    (lambda: da.scene.Vector([0, 0], [1, 0], kind="wind"), r"Vector\(kind='wind'\). Expected one of velocity, force"),
    (lambda: da.scene.Disc([0, 0], 1, [[1, 2, 3, 4]]), r"Disc \(turn\): got a matrix of shape \(1, 4\)"),
    (lambda: da.scene.Spring([0, 0], [1, 0], coils=0), r"Spring \(coils\): got 0. Expected a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(make, message):
    with pytest.raises(da.ModelError, match=message):
        make()


def test_damaged_scenes_in_files_are_refused():
    text = serial.dumps(pendulum(scene=[da.scene.Point(TIP)]))
    for old, new in (('"Point"', '"Pointer"'), ('"size"', '"length"'), ('{"list": [', '{"lists": [')):
        assert old in text
        with pytest.raises(da.ModelError, match="the scene in the file"):
            serial.loads(text.replace(old, new, 1))


def test_bodies_draw_themselves():
    b = da.bodies
    ball = b.Particle(m, [x, y])
    disc = b.PlaneBody(b.disc(m, l), [x, 0], theta)
    both = b.assemble("both", [x, y, theta], bodies=[ball, disc], loads=[b.Spring(k, ball, disc)]).system
    assert [type(i).__name__ for i in both.scene] == ["Spring", "Point", "Disc", "Trail", "Trail"]


def test_a_shape_measured_from_elsewhere_stays_where_it_is():
    b = da.bodies
    rod = b.PlaneBody(b.rod(m, l).measured_from([-l / 2, 0]), [0, 0], theta)
    (drawn, _) = b.assemble("rod", [theta], bodies=[rod]).system.scene
    assert drawn.a == (0, 0) and drawn.b == (l * cos(theta), l * sin(theta))


def test_group_coordinates_draw_themselves():
    R, P, Q = da.rotation("R"), da.planar_pose("P"), da.pose("Q")
    for q, energy in ((R, R.omega), (P, (*P.omega, *P.velocity)), (Q, (*Q.omega, *Q.velocity))):
        items = scene_of(da.System("body", [q], kinetic=m * sum(w**2 for w in energy) / 2))
        assert "Box" in {type(i).__name__ for i in items}


def test_without_a_scene_something_sensible_is_drawn():
    def kinds(system):
        return [type(i).__name__ for i in scene_of(system)]

    assert kinds(pendulum()) == ["Rod", "Point", "Point", "Trail"]
    assert kinds(da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)) == ["Point", "Trail"]
    two = da.gallery.load("double-pendulum").system.replace(scene=None)
    frame, point, _ = scene_of(two)
    wrapped = np.array([float(e.subs({two.coordinates[0]: 7.0, two.coordinates[1]: -4.0})) for e in point.at])
    assert np.allclose(wrapped, [7 - 2 * np.pi, 2 * np.pi - 4]) and len(frame.points) == 5


@pytest.mark.parametrize("name", da.gallery.names())
def test_every_gallery_system_has_a_scene(name):
    system = da.gallery.load(name).system
    assert system.scene
    moving = {s for i in system.scene for s in i.symbols}
    assert moving & {*system.drawable} - set(system.parameters), "nothing in it moves"
