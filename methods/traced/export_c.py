"""A quantity of one robot as self-contained C99: one function, its declaration, and a program that checks itself.

The code needs <math.h> and nothing else, allocates nothing and has no state. Compile the file by itself with
-DDYNBENCH_MAIN for a program that compares the function with stored results, and times it when given a number of calls.
"""

from __future__ import annotations

from dynbench.methods.base import Method, width
from dynbench.methods.kernels.status import Status
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.export import Export, checked_states, identifier, traced_for_export
from dynbench.methods.traced.graph import Symbol
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import UNIT

INFIX = {g.ADD: "+", g.SUBTRACT: "-", g.MULTIPLY: "*", g.DIVIDE: "/"}
TOLERANCE = {"forward_dynamics": 1e-9}  # relative; forward dynamics loses digits with the condition of M, others 1e-12


def export_c(method: Method, robot: Robot, quantity: str) -> str:
    """Return a C file."""
    export = traced_for_export(method, robot, quantity)
    name = identifier(robot, quantity)
    parts = [_head(export, name), _function(export, name), _main(export, name)]
    return "\n".join(parts)


def declaration(method: Method, robot: Robot, quantity: str) -> str:
    """Return the header that goes with `export_c`."""
    export = traced_for_export(method, robot, quantity)
    name = identifier(robot, quantity)
    guard = f"{name.upper()}_H"
    return f"#ifndef {guard}\n#define {guard}\n\n{_head_comment(export, name)}{_signature(export, name)};\n\n#endif\n"


def _signature(export: Export, name: str) -> str:
    given = [f"const double {x}[{width(export.robot, x)}]" for x in export.arguments]
    count = len(export.trace.graph.outputs)
    return f"int {name}({', '.join(given)}, double out[{count}])"


def _head_comment(export: Export, name: str) -> str:
    robot, counts = export.robot, export.trace.operations
    joints = "\n".join(f"   {i}: {_plain(joint)}" for i, joint in enumerate(robot.joint_names))
    return (
        f"/* {name}: {export.quantity} of robot {_plain(robot.name)!r} by the method {export.method.name!r}.\n\n"
        f"   {counts.additions} additions, {counts.multiplications} multiplications, {counts.divisions} divisions,\n"
        f"   {counts.square_roots} square roots, {counts.sincos} sines with cosines.\n\n"
        "   SI units, radians; quaternions are x y z w; a matrix is stored by rows. Joints in order:\n"
        f"{joints}\n\n"
        "   Returns 0, or why out must not be used:\n"
        f"   {int(Status.NOT_FINITE)} an input is not finite,\n"
        f"   {int(Status.NOT_UNIT)} a quaternion is not of unit length,\n"
        f"   {int(Status.NO_RESULT)} the result is not finite (a state off the loops, or a singular one).\n"
        "   Do not compile with -ffast-math or -ffinite-math-only: these checks would be removed. */\n"
    )


def _plain(text: str) -> str:
    """A name fit for a comment."""
    return "".join(c if c.isalnum() or c in " _-.()" else "_" for c in text.encode("ascii", "replace").decode())


def _head(export: Export, name: str) -> str:
    return f"{_head_comment(export, name)}\n#include <math.h>\n\n{_signature(export, name)};\n"


def _number(x: float) -> str:
    return repr(float(x))


def _function(export: Export, name: str) -> str:
    graph, robot = export.trace.graph, export.robot
    lines = [_signature(export, name), "{"]
    value: dict[int, str] = {}
    pairs: set[int] = set()
    letters = (*export.arguments, "", "")
    for n in graph.live():
        op, a, b = graph.op[n], graph.a[n], graph.b[n]
        if op == g.INPUT:
            value[n] = f"{letters[a]}[{b}]"
        elif op == g.CONSTANT:
            value[n] = _number(a)
        elif op in (g.SINE, g.COSINE):
            if a not in pairs:
                pairs.add(a)
                lines.append(f"    const double s{a} = sin({value[a]}), c{a} = cos({value[a]});")
            value[n] = f"{'s' if op == g.SINE else 'c'}{a}"
        else:
            if op in INFIX:
                text = f"{value[a]} {INFIX[g.Op(op)]} {value[b]}"
            else:
                text = f"sqrt({value[a]})" + (" * 0.0" if op == g.GUARD else "")
            value[n] = f"t{n}"
            lines.append(f"    const double t{n} = {text};")
    # sines and cosines come in pairs, of which one may not be needed
    used = {value[n] for n in graph.live()}
    for a in sorted(pairs):
        lines += [f"    (void){x};" for x in (f"s{a}", f"c{a}") if x not in used]
    lines.append("    double sum = 0.0;")
    for j, x in enumerate(graph.outputs):
        text = _number(float(x)) if not isinstance(x, Symbol) else f"{'-' if x.sign < 0 else ''}{value[x.node]}"
        lines.append(f"    out[{j}] = {text};")
    for argument in export.arguments:
        lines.append(f"    for (int i = 0; i < {width(robot, argument)}; i++) sum += {argument}[i] * 0.0;")
    lines.append(f"    if (!(sum == 0.0)) return {int(Status.NOT_FINITE)};")
    for j, _ in robot.quaternions:
        square = " + ".join(f"q[{j + k}] * q[{j + k}]" for k in range(4))
        lines.append(f"    if (!(fabs({square} - 1.0) <= {UNIT!r})) return {int(Status.NOT_UNIT)};")
    lines.append(f"    for (int i = 0; i < {len(graph.outputs)}; i++) sum += out[i] * 0.0;")
    lines += [f"    return sum == 0.0 ? 0 : {int(Status.NO_RESULT)};", "}", ""]
    return "\n".join(lines)


def _array(name: str, rows: FloatArray) -> str:
    listed = ",\n    ".join("{" + ", ".join(_number(x) for x in row) + "}" for row in rows)
    return f"static const double {name}[{len(rows)}][{rows.shape[1]}] = {{\n    {listed}}};"


def _main(export: Export, name: str) -> str:
    inputs, results = checked_states(export)
    tolerance = TOLERANCE.get(export.quantity, 1e-12)
    arrays = [_array(f"given_{x}", rows) for x, rows in zip(export.arguments, inputs, strict=True)]
    given = ", ".join(f"given_{x}[k]" for x in export.arguments)
    states, count = results.shape
    return "\n".join(
        [
            "#ifdef DYNBENCH_MAIN",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "#include <time.h>",
            "",
            *arrays,
            _array("expected", results),
            "",
            "int main(int argc, char **argv)",
            "{",
            f"    double out[{count}], error = 0.0, size = 0.0;",
            f"    for (int k = 0; k < {states}; k++) {{",
            f"        if ({name}({given}, out) != 0) {{ printf(\"state %d is refused\\n\", k); return 1; }}",
            f"        for (int i = 0; i < {count}; i++) {{",
            "            error = fmax(error, fabs(out[i] - expected[k][i]));",
            "            size = fmax(size, fabs(expected[k][i]));",
            "        }",
            "    }",
            "    error /= size > 0.0 ? size : 1.0;",
            '    printf("largest relative error %.3g\\n", error);',
            "    if (argc > 1) {",
            "        const long calls = atol(argv[1]);",
            "        volatile double kept = 0.0;",
            "        const clock_t begun = clock();",
            "        for (long i = 0; i < calls; i++) {",
            f"            const int k = (int)(i % {states});",
            f"            {name}({given}, out);",
            "            kept += out[0];",
            "        }",
            '        printf("%.1f ns a call\\n", (double)(clock() - begun) / CLOCKS_PER_SEC * 1e9 / (double)calls);',
            "    }",
            f"    return error <= {tolerance!r} ? 0 : 1;",
            "}",
            "#endif",
            "",
        ]
    )
