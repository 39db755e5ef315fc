"""
Soak: the example service for an hour, with what happens to a service in a year.

`make soak MINUTES=60` runs `examples/service` in two processes, one of each framework,
over stores of Chroma on disk and one state in PostgreSQL. Ten tenants ask, some of them
to find out what they may not see; policies change, processes are killed, the database
is restarted and its disk is full. It prints one table.
"""
