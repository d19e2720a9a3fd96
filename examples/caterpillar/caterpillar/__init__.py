"""An example of what another package can add to dynbench: a method, a family of robots, a scenario."""
