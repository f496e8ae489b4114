"""The test kit: a running opolyx for tests of clients and bots, as a pytest plugin.

No service. It puts services together for tests, and nothing that serves people imports it: what it
can do, such as say what the dice show, can be switched on by no setting.
"""
