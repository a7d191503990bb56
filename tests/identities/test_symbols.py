"""Symbols know what they belong to as objects: through copies, pickles and files, whatever they are called."""

import copy
import json
import pickle

import pytest
import sympy

import dalembert as da
from dalembert import groups
from dalembert.errors import ModelError
from dalembert.model import serial
from dalembert.model.coordinates import Velocity, multiplier

x, y = da.coordinates("x y")
S = da.entropies("S")
R, n, g = da.rotation("R"), da.direction("n"), da.group_coordinate("g", groups.Heisenberg)
TURNING = [R.omega[1], R.momentum[0], R.alpha[2], n.omega[1], g.velocity[2]]
SYMBOLS = [x.dot, x.ddot, x.momentum, x.displacement, S.dot, x.at(0), S.at(1), *TURNING, R[0, 1], n[2], g[0, 2]]


@pytest.mark.parametrize("s", [*SYMBOLS, multiplier(3), multiplier(2).dot], ids=str)
def test_a_symbol_survives_copies_and_pickles(s):
    for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert other == s and hash(other) == hash(s) and type(other) is type(s) and sympy.latex(other) == sympy.latex(s)


def test_a_symbol_belongs_to_the_object_it_was_made_of():
    assert x.dot.coordinate == x and S.dot.coordinate == S and x.at(1).end == 1
    assert R.omega[1].coordinate.factor == R and R.omega[1].coordinate.number == 1
    assert pickle.loads(pickle.dumps(g.velocity[2])).coordinate.factor == g
    assert R[0, 1].owner == "R" and R[0, 1].place == (0, 1)


def test_control_equal_names_are_not_equal_symbols():
    """A coordinate and an entropy of one name have rates of one name, which belong to different things."""
    assert da.coordinates("S").dot != S.dot and da.coordinates("S").dot.name == S.dot.name


def test_a_name_may_look_like_anything():
    """A coordinate called like a direction of a group is a coordinate."""
    turn1 = da.coordinates("turn1")
    assert turn1.dot.coordinate == turn1 and type(turn1.dot) is Velocity
    system = da.System("turn1", [turn1], kinetic=turn1.dot**2 / 2, potential=turn1**2)
    assert serial.loads(serial.dumps(system)) == system


def test_a_file_cannot_name_a_symbol_of_something_else():
    system = da.System("line", [x], kinetic=x.dot**2 / 2, potential=x**2)
    text = serial.dumps(system)
    assert serial.loads(text) == system
    for stranger in ("y.dot", "x.dot.dot", "R.turn1.dot", "multiplier.1"):
        data = json.loads(text.replace('"x.dot"', f'"{stranger}"'))
        with pytest.raises(ModelError, match="has a Velocity that is no symbol of a system"):
            serial.loads(json.dumps(data))
