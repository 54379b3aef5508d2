"""The methods, a file a subject: parameters in, one call to the engine, the contract's shapes out; `table` unites them.

Must not: trust what a request says about its sender.
"""
