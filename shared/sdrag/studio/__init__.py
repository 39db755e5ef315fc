"""Where a policy is written, tried and measured: the command, the workbench, reports.

Nothing that runs in an application imports it.
"""
