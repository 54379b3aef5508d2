"""Plots: what is drawn as a value, and the one view that draws it, says it in a sentence and lists it as a table.

pyqtgraph is imported in this room alone, in `canvas`, which is loaded by a worker when the first plot is shown. Must
not: ask the engine for anything to draw, interpret a name as rich text, or be imported by a room below the pages.
"""
