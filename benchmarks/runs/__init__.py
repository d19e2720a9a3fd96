"""A whole benchmark: `plan` what it covers, `stages` that find rows (`records`), `workers` that run them in processes
of their own, `outputs` and `tables` that write them; `bench` puts these in order."""
