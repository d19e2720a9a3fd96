"""A caterpillar: segments in a row, each on a ball joint at the end of the one before, the first one free."""

from dynbench import robots


def caterpillar(n: int, mass: float = 0.2, length: float = 0.1, radius: float = 0.02) -> robots.Robot:
    """Return a caterpillar of ``n`` solid cylinders along x; kilograms and metres, each."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    segments = [
        robots.Body(
            name=f"segment{k}",
            parent=f"segment{k - 1}" if k else None,
            joint=robots.Spherical() if k else robots.Free(),
            placement=([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [length if k else 0.0, 0.0, 0.0]),
            mass=mass,
            com=[length / 2.0, 0.0, 0.0],
            inertia=[mass * radius**2 / 2.0, across, across],
        )
        for k in range(n)
    ]
    return robots.Robot.from_bodies(f"caterpillar-{n}", segments)
