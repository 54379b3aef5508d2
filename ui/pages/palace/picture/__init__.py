"""How the plan is drawn: where things lie in a room on the canvas, outlines and floors, words on cards, shapes.

Must not do: change anything, ask the engine.
"""
