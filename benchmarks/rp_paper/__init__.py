"""Behind `scenarios.gibbs_appell_rigid`: the revolute-prismatic paper as printed, its errata, its operation counts."""
