"""The methods of clients: parameters in, one call to the engine, the contract's shapes out.

Must not: trust what a request says about its sender.
"""
