"""The doors: command line, headless service, tour; and the wiring behind them.

Only this room reads the environment and arguments. Must not do: anything with
memories itself; it asks the engine, in process or over the owner's channel.
"""
