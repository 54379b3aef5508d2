"""What is planned and who is known: calendars and address books.

Must not do: work out when an event comes again, or follow an address.
"""
